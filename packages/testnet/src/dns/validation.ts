// What the recursive front says of signatures, as a resolver that checks them does (RFC 4035 section 5).

import type { Plan } from '../companies/plan-type.ts';
import type { Question, Reply, Responder } from './dns-server.ts';
import type { Model } from './published-records.ts';

/** Checks what `respond` found: the top-level domains are signed, of the companies some, and nothing else is. */
export function validating(respond: Responder, model: Pick<Model, 'companyOf'>): Responder {
  return (question) => {
    const reply = respond(question);
    if (reply === null || !isAnswer(reply)) return reply;
    const names = [question.name, ...(reply.answers ?? []).map(({ name }) => name)];
    // DS stands in the parent zone, whose signatures are in order.
    const isBroken = question.type !== 'DS' && names.some((name) => model.companyOf(name)?.isBogus === true);
    if (isBroken && question.isChecked) return { rcode: 'SERVFAIL' };
    return {
      ...reply,
      isAuthentic: !isBroken && names.every((name) => isSigned(name, question, model.companyOf(name))),
    };
  };
}

function isAnswer({ rcode }: Reply): boolean {
  return rcode === 'NOERROR' || rcode === 'NXDOMAIN';
}

/** That a company has no DS record cannot be proven: its parent leaves unsigned names out (RFC 5155 section 6). */
function isSigned(name: string, { type }: Question, company: Plan | undefined): boolean {
  if (company === undefined) return !name.includes('.');
  return company.isSigned && !(company.isBogus && type !== 'DS') && company.state !== 'nonexistent';
}
