; A local that grows step by step, before it decides a field.
;> reserved += 2
;= accumulate: reserved += 2
(augmented_assignment left: (identifier)) @accumulate
