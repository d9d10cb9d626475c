// The bodies and answers of the admin API.
import { z } from 'zod';
import { MAX_PRICE, PERIODS, TEAM_NAME } from '../../store/access/policy.ts';

/** Amounts of money in millionths: at most a thousand million. */
const micros = z.int().min(0).max(1e15);
const price = micros.max(MAX_PRICE);
const name = z.string().min(1).max(200);
const label = z.string().max(200);
const tier = z.enum(['free', 'standard', 'unlimited']);
const priority = z.enum(['low', 'normal', 'high']);
const time = z.iso.datetime({ offset: true });
export const TeamName = z.string().regex(TEAM_NAME, 'must be lower-case letters, digits, `.`, `_` and `-`');
export const KeyId = z.string().regex(/^key_\w{1,40}$/, 'must be the id of a key: key_…');

const policy = {
  models: z.array(name).min(1).max(100).nullable(),
  tokens_per_day: z.int().min(1).max(1e12).nullable(),
  spend_limit: z
    .strictObject({
      micros: micros.min(1),
      period: z.enum(PERIODS),
      warning: micros.min(1).optional().describe('Micros; reaching them is logged as `budget.warning`.'),
    })
    .refine(({ micros: limit, warning = 0 }) => warning <= limit, {
      path: ['warning'],
      message: 'must not be above `micros`',
    })
    .nullable(),
};
const ofKey = { expires_at: time.nullable(), ...policy };

/** Request bodies. Null removes a limit. */
export const adminBodies = {
  NewAdminKey: z.strictObject({
    label: label.optional(),
    tier: tier.default('free'),
    priority: priority.default('normal'),
    team: TeamName.nullable().default(null).describe('A key stays in its team.'),
    ...z.strictObject(ofKey).partial().shape,
  }),
  AdminKeyChange: z.strictObject({ label: label.nullable(), tier, priority, ...ofKey }).partial(),
  KeyRotation: z.strictObject({
    overlap_seconds: z
      .int()
      .min(0)
      .max(30 * 86_400)
      .default(86_400)
      .describe('How long the secret before stays valid.'),
  }),
  TeamLimits: z.strictObject(policy).partial(),
  ModelPrice: z
    .strictObject({
      input_micros: price,
      output_micros: price,
      cached_micros: price.optional(),
    })
    .describe("Of a million tokens, in millionths of the operator's currency; cached as input if absent."),
} as const;
export type AdminBody = keyof typeof adminBodies;

const AdminKey = z.object({
  id: z.string(),
  label: label.nullable(),
  tier,
  priority,
  is_admin: z.boolean(),
  team: z.string().nullable(),
  ...ofKey,
  created_at: time,
  revoked_at: time.nullable(),
});
const page = { object: z.literal('list'), next_cursor: z.string().nullable() };
const usage = {
  requests: z.int(),
  prompt_tokens: z.int(),
  cached_tokens: z.int(),
  completion_tokens: z.int(),
  spend_micros: z.int(),
};

export const adminAnswers = {
  AdminKey,
  AdminKeyPage: z.object({ ...page, data: z.array(AdminKey) }),
  CreatedAdminKey: z.object({ ...AdminKey.shape, key: z.string().describe('Returned only once.') }),
  RevokedKey: z.object({ id: z.string(), revoked: z.literal(true) }),
  Team: z.object({ id: z.string(), ...policy, created_at: time }),
  RemovedTeam: z.object({ id: z.string(), removed: z.literal(true), revoked_keys: z.int() }),
  Price: z.object({ model: z.string(), input_micros: micros, cached_micros: micros, output_micros: micros }),
  RemovedPrice: z.object({ model: z.string(), removed: z.literal(true) }),
  UsageReport: z.object({
    object: z.literal('list'),
    is_truncated: z.boolean(),
    data: z.array(
      z.object({
        day: z.string(),
        key_id: z.string().nullable(),
        label: z.string().nullable(),
        team: z.string().nullable(),
        model: z.string().nullable(),
        ...usage,
      }),
    ),
  }),
  AuditPage: z.object({
    ...page,
    data: z.array(
      z.object({
        at: time,
        actor: z
          .string()
          .describe('The id of an admin key; or `local`, a process with the database, as the CLI; or `gateway`.'),
        action: z.string(),
        target: z.string(),
        before: z.looseObject({}).nullable(),
        after: z.looseObject({}).nullable(),
      }),
    ),
  }),
} as const;
