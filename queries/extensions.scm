; A list or set that grows after its assignment: by a call, by +=, or through a bound method that
; plugins call (which makes it open).
;> NAMES.extend(["a", "b"])
;> NAMES.append("c")
;> seen.add("d")
;> NAMES += ["e"]
;> add_names = NAMES.extend
;= grown: NAMES
;= by: ["a", "b"]
;= grown: NAMES
;= by: "c"
;= grown: seen
;= by: "d"
;= plus: NAMES
;= added: ["e"]
;= bound: NAMES
(call function: (attribute object: (_) @grown attribute: (identifier) @_how)
  arguments: (argument_list . (_) @by .)
  (#any-of? @_how "extend" "append" "add" "update" "insert"))
(augmented_assignment left: (identifier) @plus operator: "+=" right: (_) @added)
(assignment left: (identifier) right: (attribute object: (identifier) @bound attribute: (identifier) @_method)
  (#any-of? @_method "extend" "append" "add" "update"))
