; What a function gives back: decisions as a dict, or one value for a field its caller sets.
;> def f():
;>     return {"size": 1}
;> def g():
;>     return "triton"
;= result: return {"size": 1}
;= result: return "triton"
(return_statement (_)) @result
