; Every string literal, f-strings and docstrings too; adjacent ones also as the whole they make.
;> a = "one"
;> b = ("two " f"{x}")
;= literal: "one"
;= literal: "two " f"{x}"
;= literal: "two "
;= literal: f"{x}"
[
  (string)
  (concatenated_string)
] @literal
