-- batch_open: a batch that children may join; opening it again changes nothing. ARGV[4] batch, ARGV[5] parent or ''. Its
-- own keys: the batches of a parent that are open, by age; this one.
-- include: ground
if call('EXISTS', own_key(2)) == 0 then
  call('HSET', own_key(2), 'parent', ARGV[5], 'total', '0', 'done', '0', 'failed', '0', 'sealed', '0',
    'created_at', NOW, 'ended_at', '')
  if ARGV[5] ~= '' then call('ZADD', own_key(1), NOW, ARGV[4]) end
end
return 1
