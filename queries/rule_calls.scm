; Calls and names bound inside a test.
;> if (found := look(TABLE)):
;>     pass
;= call: look(TABLE)
;= walrus: found := look(TABLE)
(call) @call
(named_expression) @walrus
