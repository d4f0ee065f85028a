; Every call with its callee, for following helpers from one function into another.
;> helper(parser, Kind)
;> a.b.method()
;= callee: helper
;= callee: a.b.method
(call function: [(identifier) (attribute)] @callee)
