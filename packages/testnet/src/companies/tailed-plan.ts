// Replaces a share of a plan's providers by long-tail providers.

import type { Table, Templates } from '../providers/index.ts';
import { FORWARDERS } from '../providers/mail.ts';
import type { Random } from '../random.ts';
import type { BasePlan, Plan } from './plan-type.ts';

/** Share of long-tail providers in every category, if there is a long tail. */
const TAIL_SHARE = 0.2;

/** Draws a share of every category from the long tail. */
export function withTail(plan: BasePlan, r: Random, templates: Templates): BasePlan {
  const one = <T extends { readonly id: string }>({ tail, rows }: Table<T>, id: string) =>
    tail.length > 0 && rows.some((row) => row.id === id) && r.chance(TAIL_SHARE) ? r.pick(tail).id : id;
  const all = <T extends { readonly id: string }>(table: Table<T>, ids: readonly string[]) => [
    ...new Set(ids.map((id) => one(table, id))),
  ];
  const hosting = plan.cdn === null ? one(templates.hosting, plan.hosting) : plan.hosting;
  const cdn = plan.cdn && one(templates.cdn, plan.cdn);
  const hasMoved = hosting !== plan.hosting || cdn !== plan.cdn;
  return {
    ...plan,
    // A proxied zone keeps its CDN's name servers.
    dns: plan.cdn !== null && plan.dns.includes(plan.cdn) ? plan.dns : all(templates.dns, plan.dns),
    mailbox: FORWARDERS.has(plan.mailbox) ? plan.mailbox : one(templates.mailbox, plan.mailbox),
    gateway: plan.gateway && one(templates.gateway, plan.gateway),
    senders: all(templates.sender, plan.senders),
    reports: plan.reports && one(templates.reports, plan.reports),
    tokens: all(templates.token, plan.tokens),
    hosting,
    cdn,
    platform: hasMoved || isAnyPlatform(plan, templates) ? one(templates.platform, plan.platform) : plan.platform,
    authority:
      cdn === null && hosting === plan.hosting && isAnyIssuer(plan, templates)
        ? one(templates.authority, plan.authority)
        : plan.authority,
  };
}

function isAnyPlatform({ hosting }: Pick<Plan, 'hosting'>, templates: Templates): boolean {
  return hosting === 'self' || templates.hosting.of(hosting).platforms === undefined;
}

function isAnyIssuer({ hosting }: Pick<Plan, 'hosting'>, templates: Templates): boolean {
  return hosting === 'self' || templates.hosting.of(hosting).issuers === undefined;
}
