// Companies that change provider as the clock moves.

import { templates } from '../providers/index.ts';
import { randomFor } from '../random.ts';
import type { Plan } from './plan-type.ts';

export type MigratingCategory =
  | 'email'
  | 'email_security'
  | 'dns'
  | 'hosting'
  | 'cdn'
  | 'email_sending'
  | 'verified_service';

export interface Migration {
  readonly domain: string;
  readonly day: number;
  readonly category: MigratingCategory;
  readonly from: string | null;
  readonly to: string | null;
}

const KINDS: readonly { readonly category: MigratingCategory; readonly weight: number }[] = [
  { category: 'email', weight: 22 },
  { category: 'email_security', weight: 8 },
  { category: 'dns', weight: 18 },
  { category: 'hosting', weight: 18 },
  { category: 'cdn', weight: 10 },
  { category: 'email_sending', weight: 12 },
  { category: 'verified_service', weight: 12 },
];

/** The change of a company on a day, if any. */
export function migrationOn(
  plan: Plan,
  day: number,
  options: { readonly seed: string; readonly share: number },
): Migration | undefined {
  const r = randomFor(options.seed, plan.domain, 'day', day);
  if (plan.state !== 'active' || !r.chance(options.share)) return undefined;
  const { category } = r.weighted(KINDS);
  const { domain } = plan;
  const other = <T extends { readonly id: string; readonly weight: number }>(
    rows: readonly T[],
    taken: readonly (string | null)[],
  ) => {
    const free = rows.filter((row) => row.weight > 0 && !taken.includes(row.id));
    return r.weighted(free).id;
  };
  switch (category) {
    case 'email':
      return ['none', 'null-mx'].includes(plan.mailbox)
        ? undefined
        : { domain, day, category, from: plan.mailbox, to: other(templates.mailbox.rows, [plan.mailbox]) };
    case 'email_security':
      if (['none', 'null-mx'].includes(plan.mailbox)) return undefined;
      return {
        domain,
        day,
        category,
        from: plan.gateway,
        to: plan.gateway && r.chance(0.4) ? null : other(templates.gateway.rows, [plan.gateway]),
      };
    case 'dns':
      return { domain, day, category, from: plan.dns[0] ?? null, to: other(templates.dns.rows, plan.dns) };
    case 'hosting':
      return { domain, day, category, from: plan.hosting, to: other(templates.hosting.rows, [plan.hosting]) };
    case 'cdn':
      return {
        domain,
        day,
        category,
        from: plan.cdn,
        to: plan.cdn && r.chance(0.3) ? null : other(templates.cdn.rows, [plan.cdn]),
      };
    case 'email_sending': {
      const removed = plan.senders.length > 0 && r.chance(0.4) ? r.pick(plan.senders) : null;
      return { domain, day, category, from: removed, to: removed ? null : other(templates.sender.rows, plan.senders) };
    }
    case 'verified_service': {
      const removed = plan.tokens.length > 0 && r.chance(0.3) ? r.pick(plan.tokens) : null;
      return { domain, day, category, from: removed, to: removed ? null : other(templates.token.rows, plan.tokens) };
    }
    default:
      return category satisfies never;
  }
}

/** The plan after a migration. Throws RangeError for an unknown provider. */
export function applyMigration(plan: Plan, { category, from, to }: Omit<Migration, 'day' | 'domain'>): Plan {
  const isFree = (platform: string) => !templates.platform.has(platform) || templates.platform.of(platform).weight > 0;
  const swap = (list: readonly string[]) => [...list.filter((id) => id !== from), ...(to ? [to] : [])];
  switch (category) {
    case 'email':
      return { ...plan, mailbox: to ? templates.mailbox.of(to).id : 'none' };
    case 'email_security':
      return { ...plan, gateway: to ? templates.gateway.of(to).id : null };
    case 'dns':
      return {
        ...plan,
        dns: to ? [templates.dns.of(to).id] : [],
        situation: { ...plan.situation, nameServers: 'usual' },
      };
    case 'hosting': {
      if (!to) return { ...plan, hosting: 'self', cdn: null };
      const { platforms, issuers, also = [] } = templates.hosting.of(to);
      const keepsCdn = !also.some((each) => each.category === 'cdn');
      return {
        ...plan,
        hosting: to,
        cdn: keepsCdn ? plan.cdn : null,
        platform: platforms?.[0] ?? (isFree(plan.platform) ? plan.platform : 'wordpress'),
        authority: issuers?.[0] ?? plan.authority,
      };
    }
    case 'cdn':
      return {
        ...plan,
        cdn: to ? templates.cdn.of(to).id : null,
        authority: to ? (templates.cdn.of(to).issuers[0] ?? plan.authority) : plan.authority,
      };
    case 'email_sending':
      return { ...plan, senders: swap(plan.senders) };
    case 'verified_service':
      return { ...plan, tokens: swap(plan.tokens) };
    default:
      return category satisfies never;
  }
}
