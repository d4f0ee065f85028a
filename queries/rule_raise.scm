; A refusal: an exception that is raised, or the process told to exit.
;> raise ValueError("no")
;> sys.exit(1)
;= raise: raise ValueError("no")
;= exit: sys.exit(1)
(raise_statement) @raise
(call function: (attribute) @_exit (#any-of? @_exit "sys.exit" "os._exit")) @exit
