; A value stored into an attribute, alone or in a tuple, or added to it.
;> cfg.size = 1
;> (a.x, a.y) = pick(a)
;> cfg.size *= 2
;> setattr(cfg, "size", 3)
;= store: cfg.size = 1
;= store: (a.x, a.y) = pick(a)
;= store: cfg.size *= 2
;= setattr: setattr(cfg, "size", 3)
(assignment left: (attribute) right: (_)) @store
(assignment left: [(pattern_list (attribute)) (tuple_pattern (attribute)) (list_pattern (attribute))] right: (_)) @store
(augmented_assignment left: (attribute)) @store
(call function: [(identifier) (attribute)] @_set (#any-of? @_set "setattr" "object.__setattr__")) @setattr
