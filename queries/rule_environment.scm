; An environment variable written by the program.
;> envs.SOME_SWITCH.set(True)
;> os.environ["SOME_SWITCH"] = "1"
;> os.environ.setdefault("SOME_SWITCH", "1")
;= set: envs.SOME_SWITCH.set(True)
;= item: os.environ["SOME_SWITCH"] = "1"
;= default: os.environ.setdefault("SOME_SWITCH", "1")
(call
  function: (attribute
    object: (attribute object: (identifier) @_envs attribute: (identifier) @_name)
    attribute: (identifier) @_set)
  (#match? @_envs "^_?envs?$") (#match? @_name "^[A-Z][A-Z0-9_]+$") (#eq? @_set "set")) @set
(assignment
  left: (subscript value: (attribute) @_environ subscript: (_))
  (#eq? @_environ "os.environ")) @item
(call
  function: (attribute) @_default
  (#any-of? @_default "os.environ.setdefault" "os.putenv")) @default
