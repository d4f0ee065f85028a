; What the call graph needs of a file, in one pass. The mapper: indexer/syntax/callgraph/facts.py.
;> import a.b as c
;> from .d import e as f
;> class K(Base):
;>     def m(self, xs):
;>         self.y: int = g(xs.z)
;>         n += 1
;>         if (w := xs): return w
;>         for x in xs: pass
;>         with k() as h: pass
;>         v = 1 if xs else 2
;= import: import a.b as c
;= import_from: from .d import e as f
;= class: class K(Base):
;= function: def m(self, xs):
;= assignment: self.y: int = g(xs.z)
;= call: g(xs.z)
;= augmented: n += 1
;= if: if (w := xs): return w
;= walrus: w := xs
;= return: return w
;= for: for x in xs: pass
;= as: k() as h
;= call: k()
;= assignment: v = 1 if xs else 2
;= ternary: 1 if xs else 2
(class_definition) @class
(function_definition) @function
(import_statement) @import
(import_from_statement) @import_from
(call) @call
(assignment) @assignment
(augmented_assignment) @augmented
(named_expression) @walrus
(return_statement) @return
(for_statement) @for
(for_in_clause) @for
(as_pattern) @as
(if_statement) @if
(conditional_expression) @ternary
