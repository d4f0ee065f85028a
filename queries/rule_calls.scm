; Calls, names bound inside a test, and upper-case names (how a registry and its reader are joined).
;> if (found := look(TABLE)):
;>     pass
;= call: look(TABLE)
;= walrus: found := look(TABLE)
;= constant: TABLE
(call) @call
(named_expression) @walrus
((identifier) @constant (#match? @constant "^_?[A-Z][A-Z0-9_]{2,}$"))
