; What a function returns; the value of a bare ``return`` is not captured.
;> def f(x):
;>     if x:
;>         return ["a"]
;>     return
;= value: ["a"]
(return_statement (_) @value)
