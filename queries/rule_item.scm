; A key written into a dict that may become a set of decisions, or an element of a configuration list.
;> declared = {"size": 1}
;> declared["size"] = 2
;> declared.update(size=3)
;= literal: declared = {"size": 1}
;= item: declared["size"] = 2
;= update: declared.update(size=3)
(assignment left: (identifier) right: (dictionary)) @literal
(assignment left: (subscript value: (_) subscript: (_)) right: (_)) @item
(call
  function: (attribute attribute: (identifier) @_update)
  (#any-of? @_update "update" "setdefault")) @update
