// DNSSEC validation in the recursive resolver (RFC 4035 section 5).

import type { Plan } from '../companies/plan-type.ts';
import type { Question, Reply, Responder } from './dns-server.ts';
import type { Model } from './published-records.ts';

/** Validates answers of `respond`: the top-level domains and some of the companies are signed, nothing else. */
export function validating(respond: Responder, model: Pick<Model, 'companyOf'>): Responder {
  return (question) => {
    const reply = respond(question);
    if (reply === null || !isAnswer(reply)) return reply;
    const names = [question.name, ...(reply.answers ?? []).map(({ name }) => name)];
    // DS records are in the parent zone, whose signatures are valid.
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

/** That a company has no DS record cannot be proven: its parent omits unsigned names (opt-out, RFC 5155 section 6). */
function isSigned(name: string, { type }: Question, company: Plan | undefined): boolean {
  if (company === undefined) return !name.includes('.');
  return company.isSigned && !(company.isBogus && type !== 'DS') && company.state !== 'nonexistent';
}
