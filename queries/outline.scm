; What a file defines and imports: the input of the module index.
;> from a.b import c as d, e
;> import f.g as h
;> class K(Base, metaclass=M):
;>     x: int = 1
;>     @property
;>     def m(self, y: int = 2) -> str:
;>         from . import late
;> TABLE = [1]
;= from: from a.b import c as d, e
;= import: import f.g as h
;= class: class K(Base, metaclass=M):
;= assign: x: int = 1
;= def: def m(self, y: int = 2) -> str:
;= from: from . import late
;= assign: TABLE = [1]
(import_statement) @import
(import_from_statement) @from
(class_definition) @class
(function_definition) @def
(expression_statement (assignment) @assign)
(expression_statement (augmented_assignment) @augment)
