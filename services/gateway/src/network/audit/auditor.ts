// Audits the answers of workers: receives every answer, has one answer of each run scored again, and updates
// reputations from the results. No worker can know which answer is audited; docs/trust.md describes what audits detect
// and what they do not.
import { randomInt } from 'node:crypto';
import type { Engine, ScoreJob } from '@strata/engine';
import {
  type Ability,
  auditShare,
  deviation,
  type Finding,
  lackingOf,
  TOLERATED_DEVIATION,
  trust,
  type Verified,
} from '@strata/inference';
import type { Logger } from 'pino';
import type { WorkerSession } from '../session/worker-session.ts';
import { isPassed, KnownAnswers } from './audit-challenge.ts';
import { hasDrawnEnd, isCutShort } from './audit-facts.ts';
import { comparedWith, forcedJob, isForced } from './audit-forced.ts';
import { judge, ownVerifier, type Panel, ranked, scoreOf, type Verifier, workerVerifier } from './audit-panel.ts';
import { AuditQueue } from './audit-queue.ts';
import { AuditRuns } from './audit-runs.ts';
import { type AuditorOptions, type AuditRecord, auditedLevel } from './audited.ts';

import type { ReputationRecorder } from './reputation-recorder.ts';
import type { ObservedAnswer, Trust } from './trust.ts';

export type { AuditorOptions, AuditRecord } from './audited.ts';

export interface AuditorDeps {
  readonly reputations: ReputationRecorder;
  /** Connected workers that offer the model. */
  readonly workers: (modelSha256: string) => readonly WorkerSession[];
  /** Whether workers other than the peer serve the model; cheap, because each answer asks. */
  readonly hasOtherWorkers: (modelSha256: string, peer: string) => boolean;
  /** A local engine with the same model file: preferred to all workers, and trusted. */
  readonly engine: (modelSha256: string) => Pick<Engine, 'score'> | undefined;
  /** What the engine of a worker cannot do, as its offer has it. */
  readonly lacks?: (peer: string, modelSha256: string) => number | undefined;
  /** What a worker of a pinned model has proved; undefined for other models. */
  readonly proved?: (peer: string, modelSha256: string) => Verified | undefined;
  readonly logger: Logger;
  readonly now: () => Date;
}

/** Records of audits that are kept for the report. */
const MAX_RECORDS = 50;
const MAX_QUEUED_ANSWERS = 500;
/** Share of clean scores that a second verifier checks. */
const DOUBLE_CHECK_SHARE = 0.1;
/** Share of audits after which a verifier is challenged. */
const CHALLENGE_SHARE = 0.1;
/** Replaces both shares if a worker is under suspicion or the verifier is new. */
const ALERT_SHARE = 0.5;
/** Maximum number of verifiers tried for one answer: three opinions, and some failures. */
const MAX_VERIFIERS = 6;

export class Auditor implements Trust, AsyncDisposable {
  readonly #deps: AuditorDeps;
  readonly #reputations: ReputationRecorder;
  readonly #runs: AuditRuns;
  readonly #queue: AuditQueue;
  readonly #known = new KnownAnswers();
  readonly #records: AuditRecord[] = [];
  readonly #running = new Set<Promise<void>>();
  readonly #stopped = new AbortController();
  readonly #share: number;
  readonly #concurrency: number;
  readonly #random: () => number;
  readonly #timeoutMs: number;

  constructor(deps: AuditorDeps, options: AuditorOptions = {}) {
    const { share = 0.02, concurrency = 2, maxQueuedTokens = 2_000_000, timeoutMs = 60_000 } = options;
    this.#deps = deps;
    this.#reputations = deps.reputations;
    this.#queue = new AuditQueue({ maxAnswers: MAX_QUEUED_ANSWERS, maxTokens: maxQueuedTokens });
    this.#share = share;
    this.#concurrency = concurrency;
    this.#random = options.random ?? (() => randomInt(2 ** 47) / 2 ** 47);
    this.#runs = new AuditRuns({ maxTokens: maxQueuedTokens, random: this.#random });
    this.#timeoutMs = timeoutMs;
  }

  of(peer: string): number {
    return trust(this.#reputations.of(peer));
  }

  reputation(peer: string) {
    return this.#reputations.of(peer);
  }

  verified(peer: string, modelSha256: string): Verified {
    const { engine, hasOtherWorkers } = this.#deps;
    if (this.#reputations.of(peer).state === 'suspect')
      return { level: 'claimed', reason: 'an audit of the worker found a deviation' };
    return (
      this.#deps.proved?.(peer, modelSha256) ??
      auditedLevel(this.#reputations.file(peer, modelSha256).cleanAudits, {
        isOn: this.#share > 0,
        hasOwnEngine: engine(modelSha256) !== undefined,
        hasOtherWorkers: hasOtherWorkers(modelSha256, peer),
        hasNoTokens: this.#lacks(peer, modelSha256, 'continuation'),
        isBlind: this.#lacks(peer, modelSha256, 'draws') && this.#lacks(peer, modelSha256, 'scores'),
      })
    );
  }

  answered(answer: ObservedAnswer): void {
    if (this.#stopped.signal.aborted) return;
    if (isCutShort(answer)) {
      this.#proven(answer, 'answers that end before their limit');
      return;
    }
    if (answer.from === answer.answer.length && !hasDrawnEnd(answer)) return;
    if (this.#lacks(answer.worker, answer.modelSha256, 'continuation')) return;
    if (this.#isForced(answer) && this.#lacks(answer.worker, answer.modelSha256, 'scores')) return;
    const share = auditShare(this.#reputations.of(answer.worker), this.#share);
    const dropped = this.#runs.add(answer, share).flatMap((due) => this.#queue.push(due));
    for (const { worker } of dropped) this.#runs.owe(worker);
    if (dropped.length > 0)
      this.#deps.logger.info({ dropped: dropped.length }, 'audits postponed: too many answers wait for an audit');
    this.#work();
  }

  breach(peer: string, reason: string): void {
    this.#note(peer, { kind: 'proof', reason });
  }

  /** The most recent audits, newest first. */
  audits(): readonly AuditRecord[] {
    return this.#records.toReversed();
  }

  /** Resolves when no answer waits for its audit. */
  async settled(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopped.abort(new Error('the auditor is closed'));
    await this.settled();
  }

  #work(): void {
    while (this.#running.size < this.#concurrency && !this.#stopped.signal.aborted) {
      const answer = this.#queue.shift();
      if (!answer) return;
      const audit = this.#audit(answer)
        .catch((error: unknown) => this.#deps.logger.error({ err: error, peer: answer.worker }, 'an audit failed'))
        .finally(() => {
          this.#running.delete(audit);
          this.#work();
        });
      this.#running.add(audit);
    }
  }

  async #audit(answer: ObservedAnswer): Promise<void> {
    const { modelSha256, worker } = answer;
    const compares = this.#isForced(answer);
    const job = compares ? forcedJob(answer) : this.#jobOf(answer);
    const suspects = this.#otherWorkers(answer).filter(({ state }) => state === 'suspect');
    const panel = await judge(job, compares ? this.#comparing(answer) : this.#verifiers(answer), {
      from: answer.from,
      isDoubleChecked: this.#random() < (suspects.length > 0 ? ALERT_SHARE : DOUBLE_CHECK_SHARE),
      timeoutMs: this.#timeoutMs,
      signal: this.#stopped.signal,
    });
    // Results that are missing because of the shutdown are not findings.
    if (this.#stopped.signal.aborted) return;
    if (panel.verdict.kind !== 'judged') this.#runs.owe(worker);
    for (const peer of panel.misjudged) this.#note(peer, { kind: 'misjudged' });
    for (const peer of panel.malformed) this.breach(peer, 'scores that do not belong to the answer');
    const outcome = this.#weigh(answer, panel);
    const isKnown = panel.verdict.kind === 'judged' && panel.verdict.voices > 1 && answer.from === 0;
    if (outcome === 'clean' && isKnown && !compares)
      this.#known.keep({ modelSha256, job, knownTo: [worker, ...panel.asked] });
    for (const peer of new Set([...panel.asked, ...suspects.map(({ session }) => session.peer)]))
      if (this.#random() < this.#challengeShare(peer)) await this.#challenge(peer, modelSha256);
  }

  #weigh(answer: ObservedAnswer, { verdict, asked, misjudged }: Panel): AuditRecord['outcome'] {
    const { worker: peer, modelSha256 } = answer;
    const found = verdict.kind === 'judged' ? verdict.found : undefined;
    if (found) this.#note(peer, { kind: 'scored', ...found });
    const deviates = found && deviation(found) > TOLERATED_DEVIATION ? 'deviating' : 'clean';
    const record: AuditRecord = {
      atMs: this.#nowMs(),
      kind: 'answer',
      peer,
      modelSha256,
      tokens: answer.answer.length - answer.from,
      verifiers: asked,
      outcome: verdict.kind === 'judged' ? deviates : verdict.kind,
      deviation: found && deviation(found),
    };
    this.#log(record);
    this.#deps.logger[record.outcome === 'clean' ? 'debug' : 'info']({ ...record, misjudged }, 'answer audited');
    return record.outcome;
  }

  #proven({ worker: peer, modelSha256, answer, from }: ObservedAnswer, reason: string): void {
    this.breach(peer, reason);
    const tokens = answer.length - from;
    const record = { kind: 'answer', peer, modelSha256, tokens, verifiers: [], outcome: 'proof' } as const;
    this.#log({ ...record, atMs: this.#nowMs(), deviation: undefined });
  }

  #log(record: AuditRecord): void {
    if (record.kind === 'answer') this.#reputations.noteAudit(record);
    this.#records.push(record);
    if (this.#records.length > MAX_RECORDS) this.#records.shift();
  }

  #note(peer: string, finding: Finding): void {
    // Its earlier answers are covered by the quarantine, and not counted again.
    if (this.#reputations.note(peer, finding).state === 'quarantined') this.#runs.forget(peer);
  }

  #challengeShare(peer: string): number {
    return this.#reputations.of(peer).state === 'good' ? CHALLENGE_SHARE : ALERT_SHARE;
  }

  async #challenge(peer: string, modelSha256: string): Promise<void> {
    const session = this.#deps.workers(modelSha256).find((each) => each.peer === peer);
    const challenge = session && this.#known.challenge(peer, modelSha256, this.#random);
    if (!challenge) return;
    const limits = { timeoutMs: this.#timeoutMs, signal: this.#stopped.signal };
    const margins = await scoreOf(workerVerifier(session, modelSha256), challenge.job, limits);
    // A verifier that does not answer is slow or disconnected, not dishonest.
    if (margins === undefined) return;
    const outcome = isPassed(challenge, margins) ? 'passed' : 'failed';
    if (outcome === 'failed') this.#note(peer, { kind: 'misjudged' });
    const tokens = challenge.job.answer.length;
    const record = { peer, modelSha256, tokens, verifiers: [], outcome, deviation: undefined } as const;
    this.#log({ ...record, atMs: this.#nowMs(), kind: 'challenge' });
    this.#deps.logger[outcome === 'passed' ? 'debug' : 'info'](record, 'verifier challenged');
  }

  /**
   * A local engine if there is one; otherwise workers with the model, except the audited one and those under suspicion.
   */
  #verifiers(answer: ObservedAnswer): readonly Verifier[] {
    const engine = this.#deps.engine(answer.modelSha256);
    if (engine) return [ownVerifier(engine)];
    const candidates = this.#otherWorkers(answer)
      .filter(({ state }) => state === 'good' || state === 'new')
      .filter(({ session }) => !this.#lacks(session.peer, answer.modelSha256, 'scores'))
      .map(({ session, state }) => ({ session, isKnown: state === 'good', isBusy: session.load.waiting > 0 }));
    return ranked(candidates, this.#random)
      .slice(0, MAX_VERIFIERS)
      .map(({ session }) => workerVerifier(session, answer.modelSha256));
  }

  /** None if the worker is offline: it cannot be asked for its own score. */
  #comparing(answer: ObservedAnswer): readonly Verifier[] {
    const { worker, modelSha256 } = answer;
    const session = this.#deps.workers(modelSha256).find(({ peer, isAlive }) => isAlive && peer === worker);
    return session ? comparedWith(workerVerifier(session, modelSha256), this.#verifiers(answer), answer) : [];
  }

  #isForced(answer: ObservedAnswer): boolean {
    return isForced(answer) && this.#lacks(answer.worker, answer.modelSha256, 'draws');
  }

  #lacks(peer: string, modelSha256: string, ability: Ability): boolean {
    return lackingOf(this.#deps.lacks?.(peer, modelSha256), [ability]) !== undefined;
  }

  #otherWorkers({ worker, modelSha256 }: ObservedAnswer) {
    return this.#deps
      .workers(modelSha256)
      .filter(({ peer, isAlive }) => isAlive && peer !== worker)
      .map((session) => ({ session, state: this.#reputations.of(session.peer).state }));
  }

  #jobOf(answer: ObservedAnswer): ScoreJob {
    const { prompt, sampling, grammar, maxTokens } = answer;
    return {
      prompt,
      answer: answer.answer,
      hasEnd: hasDrawnEnd(answer),
      sampling,
      maxTokens,
      ...(grammar === undefined ? {} : { grammar }),
    };
  }

  #nowMs(): number {
    return this.#deps.now().getTime();
  }
}
