; Decisions recorded by keyword: a declaring function or a runtime override.
;> declare_resolution(args, "source", size=1)
;> get_context().override("source", size=1)
;= declare: declare_resolution(args, "source", size=1)
;= declare: get_context().override("source", size=1)
(call
  function: [(identifier) @_name (attribute attribute: (identifier) @_name)]
  arguments: (argument_list [(keyword_argument) (dictionary_splat)])
  (#match? @_name "^_?(declare|override|record_override)")) @declare
