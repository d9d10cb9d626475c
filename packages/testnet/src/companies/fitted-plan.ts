// Adjusts plans to their situations.

import { holders, whiteLabels } from '../providers/extras.ts';
import type { Templates } from '../providers/index.ts';
import { FORWARDERS } from '../providers/mail.ts';
import { type Random, randomFor } from '../random.ts';
import type { Plan } from './plan-type.ts';

/** The plan adjusted to its situation. */
export function fitted(plan: Plan, templates: Templates, seed: string): Plan {
  const { situation } = plan;
  const r = randomFor(seed, plan.domain, 'fitting');
  const isBogus = plan.isSigned && r.chance(0.06);
  const hasRealMail = templates.mailbox.has(plan.mailbox) && !FORWARDERS.has(plan.mailbox);
  if (plan.state === 'parked' && situation.parking !== 'name-servers') return { ...plan, dns: [registrarOf(r)] };
  if (plan.state !== 'active') return plan;
  const keepers = templates.reports.rows.filter(({ hosted }) => hosted !== undefined);
  const reports = situation.policy === 'hosted' ? r.weighted(keepers).id : plan.reports;
  // A processor publishes the same record for all of its customers.
  const dmarc = hasDmarcAlias({ ...plan, reports }, templates) ? 'quarantine' : plan.dmarc;
  if (!situation.isHolding || !hasRealMail) {
    const isResold = situation.nameServers === 'white-label' && plan.cdn === null;
    const dns = isResold ? [r.pick(whiteLabels).dns] : plan.dns;
    return { ...plan, dns, reports, dmarc, isBogus };
  }
  const registrar = registrarOf(r);
  const hosting = templates.hosting.has(registrar) ? registrar : plan.hosting;
  return {
    ...plan,
    reports,
    dmarc,
    isBogus,
    dns: [registrar],
    hosting,
    cdn: null,
    platform: 'static',
    siteServices: [],
    site: 'holding',
    redirectsTo: null,
  };
}

function registrarOf(r: Random): string {
  return r.pick([...holders.keys()]);
}

/** Whether `_dmarc` is an alias of the report processor's own record. */
export function hasDmarcAlias({ situation, reports, dmarc }: Plan, templates: Templates): boolean {
  return (
    situation.hasDmarcAlias && dmarc !== null && reports !== null && templates.reports.of(reports).hosted !== undefined
  );
}
