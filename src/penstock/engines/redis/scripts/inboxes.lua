-- inboxes: 1 if any list other programs push to has a message.
-- include: ground
for _, inbox in ipairs(INBOXES) do
  if (length_of(inbox.list) or 0) > 0 then return 1 end
end
return 0
