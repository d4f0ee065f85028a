; Attribute reads: properties are called through them, pools of state are named by them.
;> self.y = f(xs.z).w
;= attribute: self.y
;= attribute: f(xs.z).w
;= attribute: xs.z
(attribute) @attribute
