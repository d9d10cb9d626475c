// `/admin/keys`: list, create, change, rotate and revoke keys.
import { CompletionError } from '@strata/inference';
import { z } from 'zod';
import type { KeyChange } from '../../store/access/keys.ts';
import { type GatewayKey, NO_POLICY, type Policy } from '../../store/access/policy.ts';
import type { GatewayApp } from '../route.ts';
import { adminRoute } from './admin-route.ts';
import { KeyId, TeamName } from './schemas.ts';

const id = z.object({ id: KeyId });
/** Time of creation and id of the last key. */
const CURSOR = /^(\d{1,15})\.(key_\w{1,40})$/;
export const Limit = z.coerce.number().int().min(1).max(1_000).default(100);

export const listKeys = adminRoute(
  {
    method: 'GET',
    path: '/admin/keys',
    query: z.object({ limit: Limit, cursor: z.string().regex(CURSOR).optional(), team: TeamName.optional() }),
    described: { summary: 'List keys, newest first', answer: 'AdminKeyPage' },
  },
  async ({ admin }, { limit, cursor = '', team }) => {
    const [, createdAt, last] = CURSOR.exec(cursor) ?? [];
    const before = last === undefined ? undefined : { createdAtMs: Number(createdAt), id: last };
    const keys = await admin.keys.list({ limit: limit + 1, before, team });
    const shown = keys.slice(0, limit);
    const end = shown.at(-1);
    const next = keys.length > limit && end ? `${end.createdAt.getTime()}.${end.id}` : null;
    return { object: 'list', data: shown.map(keyReport), next_cursor: next };
  },
);

export const createAdminKey = adminRoute(
  {
    method: 'POST',
    path: '/admin/keys',
    schema: 'NewAdminKey',
    described: { summary: 'Create a key, which is returned once', status: 201, answer: 'CreatedAdminKey' },
  },
  async ({ admin, now }, { body }, { request, reply }) => {
    const { label, tier, priority, team, ...limits } = body;
    if (team !== null && !(await admin.teams.has(team)))
      throw new CompletionError('invalid_value', `There is no team '${team}'; PUT /admin/teams/${team} creates it.`, {
        param: 'team',
      });
    const policy = changeOf(limits);
    if ((policy.expiresAt ?? Number.POSITIVE_INFINITY) <= now().getTime())
      throw new CompletionError('invalid_value', 'A new key must expire in the future.', { param: 'expires_at' });
    const isLimited = Object.values(policy).some((value) => value !== null);
    const { key, stored } = await admin.keys.create(
      { tier, priority, team, ...(label === undefined ? {} : { label }), ...(isLimited ? { policy } : {}) },
      request.caller.id,
    );
    return reply
      .code(201)
      .header('cache-control', 'no-store')
      .send({ ...keyReport(stored), key });
  },
);

export const getAdminKey = adminRoute(
  { method: 'GET', path: '/admin/keys/{id}', params: id, described: { summary: 'Get a key', answer: 'AdminKey' } },
  async ({ admin }, { id }) => keyReport((await admin.keys.get(id)) ?? unknownKey()),
);

export const changeKey = adminRoute(
  {
    method: 'POST',
    path: '/admin/keys/{id}',
    params: id,
    schema: 'AdminKeyChange',
    described: {
      summary: 'Change fields of a key; null removes a limit',
      description: 'At once at this gateway, at all within a second. Answers in progress keep their reservations.',
      answer: 'AdminKey',
    },
  },
  async ({ admin }, { id, body }, { request }) => {
    await refuseAdminKey(admin, id);
    const { label, tier, priority, ...limits } = body;
    const change: KeyChange = {
      ...changeOf(limits),
      ...(label === undefined ? {} : { label }),
      ...(tier === undefined ? {} : { tier }),
      ...(priority === undefined ? {} : { priority }),
    };
    const key = (await admin.keys.change(id, change, request.caller.id)) ?? unknownKey();
    await admin.applyChanges();
    return keyReport(key);
  },
);

export const rotateKey = adminRoute(
  {
    method: 'POST',
    path: '/admin/keys/{id}/rotate',
    params: id,
    schema: 'KeyRotation',
    described: {
      summary: 'Give a key another secret, which is returned once',
      description: 'Limits and usage stay. The secret before is valid for the overlap, an earlier one ends.',
      answer: 'CreatedAdminKey',
    },
  },
  async ({ admin }, { id, body }, { request, reply }) => {
    await refuseAdminKey(admin, id);
    const overlapMs = body.overlap_seconds * 1_000;
    const { key, stored } = (await admin.keys.rotate(id, { overlapMs }, request.caller.id)) ?? unknownKey();
    await admin.applyChanges();
    return reply.header('cache-control', 'no-store').send({ ...keyReport(stored), key });
  },
);

export const revokeKey = adminRoute(
  {
    method: 'DELETE',
    path: '/admin/keys/{id}',
    params: id,
    described: {
      summary: 'Revoke a key',
      description: 'At once at this gateway, at all within a second. Its open answers end.',
      answer: 'RevokedKey',
    },
  },
  async ({ admin }, { id }, { request }) => {
    if (!(await admin.keys.revoke(id, request.caller.id))) unknownKey();
    await admin.applyChanges();
    return { id, revoked: true };
  },
);

const unknownKey = (): never => {
  throw new CompletionError('not_found', 'There is no active key with this id.');
};

/** Otherwise an admin key could act under the id of another one. */
async function refuseAdminKey({ keys }: GatewayApp['admin'], id: string): Promise<void> {
  if ((await keys.get(id))?.access?.policy.isAdmin)
    throw new CompletionError('forbidden', 'Admin keys are created and rotated with `strata inference keys`.');
}

interface AskedLimits {
  readonly expires_at?: string | null | undefined;
  readonly models?: readonly string[] | null | undefined;
  readonly tokens_per_day?: number | null | undefined;
  readonly spend_limit?: Policy['spend'] | undefined;
}

/** The fields that a request names. */
export function changeOf({ expires_at, models, tokens_per_day, spend_limit }: AskedLimits) {
  return {
    ...(models === undefined ? {} : { models }),
    ...(tokens_per_day === undefined ? {} : { tokensPerDay: tokens_per_day }),
    ...(spend_limit === undefined ? {} : { spend: spend_limit }),
    ...(expires_at === undefined ? {} : { expiresAt: expires_at === null ? null : Date.parse(expires_at) }),
  };
}

export const limitsReport = ({ models, tokensPerDay, spend }: Policy) => ({
  ...{ models, tokens_per_day: tokensPerDay, spend_limit: spend },
});

function keyReport({ id, label, tier, priority, access, createdAt, revokedAt }: GatewayKey) {
  const policy = access?.policy ?? NO_POLICY;
  return {
    ...{ id, label, tier, priority, is_admin: policy.isAdmin, team: access?.team ?? null },
    expires_at: policy.expiresAt === null ? null : new Date(policy.expiresAt).toISOString(),
    ...limitsReport(policy),
    created_at: createdAt.toISOString(),
    revoked_at: revokedAt?.toISOString() ?? null,
  };
}
