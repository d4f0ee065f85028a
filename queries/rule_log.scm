; A line in the log: a logger's or the warnings module's method, or a helper named after a level.
;> logger.warning("a")
;> warnings.warn("b")
;> log_info_on_rank0(logger, "c")
;= method: logger.warning("a")
;= method: warnings.warn("b")
;= helper: log_info_on_rank0(logger, "c")
(call
  function: (attribute object: (_) @_owner attribute: (identifier) @_level)
  (#match? @_owner "(^|[._])(logger|log|logging|warnings|_logger|LOG|LOGGER)$")
  (#match? @_level "^(warn|warning|error|critical|exception|fatal|info)(_once)?$")) @method
(call
  function: (identifier) @_name
  (#match? @_name "^(log|print|warn|rank0)_?(warning|warn|info|error|log|deprecated_warning|deprecation)?(_once|_on_rank0|_rank0|_rank_0)?$")
  (#not-any-of? @_name "print" "log" "warn")) @helper
