; An assertion, with or without a message.
;> assert x > 1, "x"
;= assert: assert x > 1, "x"
(assert_statement) @assert
