// What Redis does in one step for a batch of locks. A lock is a string, its owner, with an end.

/** KEYS: locks. ARGV: owner and ms of each. Answers for each 0 when it was taken, else the ms that another owner has left. */
const acquire = `
local answers = {}
for i, key in ipairs(KEYS) do
  local owner, ttl = ARGV[2 * i - 1], ARGV[2 * i]
  local left = 0
  if not redis.call('SET', key, owner, 'NX', 'PX', ttl) then
    left = redis.call('PTTL', key)
    -- A key without an end isn't from here; taking it frees the run that it would hold for ever.
    if left < 0 or redis.call('GET', key) == owner then
      redis.call('SET', key, owner, 'PX', ttl)
      left = 0
    elseif left == 0 then
      left = 1
    end
  end
  answers[i] = left
end
return answers
`;

/** KEYS: locks. ARGV: their owner, ms. Answers the places of those that the owner doesn't have any more, from 1. */
const renew = `
local lost = {}
for i, key in ipairs(KEYS) do
  if redis.call('GET', key) == ARGV[1] then
    redis.call('PEXPIRE', key, ARGV[2])
  else
    lost[#lost + 1] = i
  end
end
return lost
`;

/** KEYS: locks. ARGV: their owner. Answers how many it had. */
const release = `
local released = 0
for _, key in ipairs(KEYS) do
  if redis.call('GET', key) == ARGV[1] then
    released = released + redis.call('DEL', key)
  end
end
return released
`;

export const lockScripts = { acquire, renew, release } as const;

export type LockScript = keyof typeof lockScripts;
