// `/admin/teams` and `/admin/prices`.
import { CompletionError } from '@strata/inference';
import { z } from 'zod';
import type { Price } from '../../store/access/policy.ts';
import type { Team } from '../../store/access/teams.ts';
import { adminRoute } from './admin-route.ts';
import { changeOf, limitsReport } from './keys.ts';
import { TeamName } from './schemas.ts';

export const listTeams = adminRoute(
  { method: 'GET', path: '/admin/teams', described: { summary: 'List teams', answer: { listOf: 'Team' } } },
  async ({ admin }) => ({ object: 'list', data: (await admin.teams.list()).map(teamReport) }),
);

export const setTeam = adminRoute(
  {
    method: 'PUT',
    path: '/admin/teams/{team}',
    params: z.object({ team: TeamName }),
    schema: 'TeamLimits',
    described: {
      summary: 'Create a team, or replace its limits',
      description: 'A request must fit its key and its team.',
      answer: 'Team',
    },
  },
  async ({ admin }, { team: id, body }, { request }) => {
    const { expiresAt: _, ...limits } = { expiresAt: null, ...changeOf(body) };
    const policy = { models: null, tokensPerDay: null, spend: null, ...limits };
    const team = await admin.teams.set(id, policy, request.caller.id);
    await admin.applyChanges();
    return teamReport(team);
  },
);

export const removeTeam = adminRoute(
  {
    method: 'DELETE',
    path: '/admin/teams/{team}',
    params: z.object({ team: TeamName }),
    query: z.object({ revoke_keys: z.stringbool().default(false).describe('Also revoke its active keys.') }),
    described: {
      summary: 'Remove a team without active keys',
      description: 'A later team of that name continues its spending.',
      answer: 'RemovedTeam',
    },
  },
  async ({ admin }, { team, revoke_keys: revokesKeys }, { request }) => {
    const result = await admin.teams.remove(team, { revokesKeys }, request.caller.id);
    if (!result) throw new CompletionError('not_found', 'There is no such team.');
    const { isRemoved, activeKeys } = result;
    if (!isRemoved)
      throw new CompletionError(
        'invalid_value',
        `The team has active keys (${activeKeys}): revoke them first, or all with \`revoke_keys=true\`.`,
        { param: 'revoke_keys' },
      );
    await admin.applyChanges();
    return { id: team, removed: true, revoked_keys: activeKeys };
  },
);

export const listPrices = adminRoute(
  { method: 'GET', path: '/admin/prices', described: { summary: 'List prices', answer: { listOf: 'Price' } } },
  async ({ admin }) => ({
    object: 'list',
    data: [...(await admin.teams.prices())].map(([model, price]) => priceReport(model, price)),
  }),
);

// Model names may contain slashes.
const model = z.object({ model: z.string().min(1).max(200) });

export const setPrice = adminRoute(
  {
    method: 'PUT',
    path: '/admin/prices/{model*}',
    params: model,
    schema: 'ModelPrice',
    described: {
      summary: 'Set the price of a model or alias; `*`: of all models without a price',
      description: 'Answers in progress keep their price.',
      answer: 'Price',
    },
  },
  async ({ admin }, { model, body }, { request }) => {
    const { input_micros: input, output_micros: output, cached_micros: cached = input } = body;
    const price = { input, cached, output };
    await admin.teams.setPrice(model, price, request.caller.id);
    await admin.applyChanges();
    return priceReport(model, price);
  },
);

export const removePrice = adminRoute(
  {
    method: 'DELETE',
    path: '/admin/prices/{model*}',
    params: model,
    described: { summary: 'Remove the price of a model', answer: 'RemovedPrice' },
  },
  async ({ admin }, { model }, { request }) => {
    if (!(await admin.teams.setPrice(model, null, request.caller.id)))
      throw new CompletionError('not_found', 'This model has no price.');
    await admin.applyChanges();
    return { model, removed: true };
  },
);

const teamReport = ({ id, createdAt, ...policy }: Team) => ({
  ...{ id, ...limitsReport(policy), created_at: createdAt.toISOString() },
});

const priceReport = (model: string, { input, cached, output }: Price) => ({
  ...{ model, input_micros: input, cached_micros: cached, output_micros: output },
});
