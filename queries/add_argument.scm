; Registration of one flag by hand: parser.add_argument("--x", ...), also through a group.
;> def add_cli_args(parser):
;>     parser.add_argument("--one", "-o", type=int)
;>     group.add_argument(*names, **kwargs)
;>     print("--no")
;= call: parser.add_argument("--one", "-o", type=int)
;= call: group.add_argument(*names, **kwargs)
(call function: (attribute attribute: (identifier) @_name)
  (#eq? @_name "add_argument")) @call
