-- dating: when a dead letter says it came to be one, as ISO 8601; nil where it does not. Other programs write letters too.
local function told_at(letter) return string.match(letter, '"failed_at"%s*:%s*"(%d%d%d%d%-%d%d%-%d%dT[^"]+)"') end
