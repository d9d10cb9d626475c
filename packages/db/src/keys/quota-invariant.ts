// What holds for the quotas of every store.
import { type Invariant, REPORT } from '../store-schema.ts';
import { TIERS } from './keys.ts';

const limits = Object.entries(TIERS)
  .filter(([, limit]) => limit !== null)
  .map(([tier, limit]) => `when '${tier}' then ${limit}`)
  .join(' ');

export const QUOTA_INVARIANT: Invariant = {
  name: 'quotas',
  sql: `select u.key_id || ' ' || u.day as id from quota_usage u join api_keys k on k.id = u.key_id
    where u.used < 0 or length(u.day) <> 10 or u.used > case k.tier ${limits} else u.used end`,
  what: 'Keys have a negative usage, or more than their limit (quota_usage)',
  advice: REPORT,
};
