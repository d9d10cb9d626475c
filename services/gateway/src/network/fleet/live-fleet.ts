// The workers of one model as they are connected now: who is asked next, and what is learnt from how it went.
import type { Job } from '@strata/engine';
import {
  afterAsked,
  afterFailure,
  afterRefusal,
  afterSuccess,
  type Breaker,
  breakerState,
  CLOSED,
  choosePlacement,
  type Directory,
  type PlacementCandidate,
  type PrefixMap,
  type WeightedDraw,
  weightedDraw,
} from '@strata/inference';
import { LRUCache } from 'lru-cache';
import type { Trust } from '../audit/trust.ts';
import type { WorkerSession } from '../session/worker-session.ts';
import type { Chosen, Fleet, Served } from './fleet.ts';
import { afterServed, believedSlots, believedSpeed, type FleetMember, newMember } from './fleet-member.ts';

export interface LiveFleetOptions {
  readonly sha256: string;
  readonly vocabularySha256: string;
}

export interface LiveFleetDeps {
  /** By peer; whoever owns it tells `refresh` of changes. */
  readonly sessions: ReadonlyMap<string, WorkerSession>;
  readonly directory: Pick<Directory, 'worker'>;
  /** May be shared between models. */
  readonly prefixes: PrefixMap;
  readonly trust: Pick<Trust, 'of'>;
  /** Milliseconds that never go back. */
  readonly nowMs: () => number;
  /** From 0 to below 1. */
  readonly random: () => number;
}

/** Losses that are no fault of the worker, and how long it is left alone after them. */
const FAULTLESS_PAUSE_MS: ReadonlyMap<string, number> = new Map([
  ['busy', 250],
  // If it is still there by then, it stays.
  ['leaving', 10_000],
  // Another one may have a larger context.
  ['full', 0],
]);
/** After these it has nothing left of what it read. */
const FORGETFUL: ReadonlySet<string> = new Set(['gone', 'engine-failed']);
/** Whoever hedges at a multiple of what is expected must not do so because of a timer's tick. */
const MIN_EXPECTED_MS = 50;
/** Workers that are remembered: one that fails or is slow is no better for having left and come back. */
const MAX_REMEMBERED = 4_096;

export class LiveFleet implements Fleet {
  readonly #options: LiveFleetOptions;
  readonly #deps: LiveFleetDeps;
  #members: readonly FleetMember[] = [];
  #indexes: ReadonlyMap<string, number> = new Map();
  #draw: WeightedDraw = weightedDraw([]);
  #slots = 0;
  readonly #breakers = new LRUCache<string, Breaker>({ max: MAX_REMEMBERED });
  readonly #remembered = new LRUCache<string, FleetMember>({ max: MAX_REMEMBERED });
  /** By peer: jobs of ours that it will have when those have reached it that were given to it in this turn of the event loop. */
  readonly #justGiven = new Map<string, number>();

  constructor(options: LiveFleetOptions, deps: LiveFleetDeps) {
    this.#options = options;
    this.#deps = deps;
    this.refresh();
  }

  get isReady(): boolean {
    return this.#slots > 0;
  }

  get slots(): number {
    return this.#slots;
  }

  /** Looks again at who is connected, what they offer, and how far they are trusted: after a change of any of these. */
  refresh(): void {
    const members: FleetMember[] = [];
    for (const [peer, session] of this.#deps.sessions) {
      const claim = session.isAlive && this.#deps.trust.of(peer) > 0 ? this.#offered(peer) : undefined;
      if (!claim) continue;
      const known = this.#remembered.get(peer);
      members.push(known ? { ...known, claim } : newMember(peer, claim));
    }
    for (const { peer } of this.#members) if (!this.#deps.sessions.has(peer)) this.#deps.prefixes.forget(peer);
    this.#publish(members);
  }

  choose(
    { prompt, given }: Pick<Job, 'prompt' | 'given'>,
    { except }: { readonly except: ReadonlySet<string> },
  ): Chosen | undefined {
    const { prefixes, sessions, random, nowMs } = this.#deps;
    const replayTokens = given?.length ?? 0;
    const cached = prefixes.cachedTokens(this.#options.sha256, prompt);
    const placement = choosePlacement(
      {
        size: this.#members.length,
        draw: this.#draw,
        holders: [...cached.keys()].flatMap((peer) => this.#indexes.get(peer) ?? []),
        at: (index) => {
          const member = this.#members[index] as FleetMember;
          const { peer, claim } = member;
          return this.#candidate(member, {
            cachedTokens: cached.get(peer) ?? 0,
            isLeftOut: except.has(peer) || prompt.length + replayTokens >= claim.contextLength,
          });
        },
      },
      { promptTokens: prompt.length, replayTokens },
      random,
    );
    const session = placement && sessions.get(placement.peer);
    const member = this.#members[this.#indexes.get(placement?.peer ?? '') ?? -1];
    if (!placement || !session || !member) return undefined;
    const breaker = this.#breakers.get(placement.peer);
    if (breaker) this.#breakers.set(placement.peer, afterAsked(breaker, nowMs()));
    this.#giveTo(placement.peer);
    const { decodeTokensPerSecond } = believedSpeed(member);
    const expectedFirstTokenMs = Math.max(MIN_EXPECTED_MS, placement.expectedFirstTokenMs);
    return { session, expectedFirstTokenMs, decodeTokensPerSecond, contextLength: member.claim.contextLength };
  }

  noteServed(served: Served): void {
    const { prefixes, sessions } = this.#deps;
    this.noteAnswered(served.peer);
    prefixes.note(served.peer, this.#options.sha256, served.tokens);
    const index = this.#indexes.get(served.peer) ?? -1;
    const member = this.#members[index];
    const session = sessions.get(served.peer);
    if (!session || !member) return;
    const after = afterServed(member, served, { rttMs: session.rttMs });
    this.#remembered.set(served.peer, after);
    const members = this.#members.with(index, after);
    if (believedSlots(after) !== believedSlots(member)) this.#publish(members);
    // What is drawn by may be a little old: it is made anew with the next offer of anybody.
    else this.#members = members;
  }

  noteAnswered(peer: string): void {
    const breaker = this.#breakers.get(peer);
    if (breaker) this.#breakers.set(peer, afterSuccess(breaker));
  }

  noteLost(peer: string, loss: string): void {
    const { prefixes, nowMs, random } = this.#deps;
    const breaker = this.#breakers.get(peer) ?? CLOSED;
    const pauseMs = FAULTLESS_PAUSE_MS.get(loss);
    this.#breakers.set(
      peer,
      pauseMs === undefined ? afterFailure(breaker, nowMs(), random) : afterRefusal(breaker, nowMs(), pauseMs),
    );
    if (FORGETFUL.has(loss)) prefixes.forget(peer);
  }

  #giveTo(peer: string): void {
    if (this.#justGiven.size === 0) setImmediate(() => this.#justGiven.clear());
    this.#justGiven.set(peer, this.#ownJobs(peer) + 1);
  }

  /** A job that was given and has reached its worker meanwhile is counted once. */
  #ownJobs(peer: string): number {
    return Math.max(this.#deps.sessions.get(peer)?.load.own ?? 0, this.#justGiven.get(peer) ?? 0);
  }

  #candidate(
    member: FleetMember,
    { cachedTokens, isLeftOut }: { readonly cachedTokens: number; readonly isLeftOut: boolean },
  ): PlacementCandidate {
    const { sessions, trust, nowMs } = this.#deps;
    const { peer } = member;
    const session = sessions.get(peer);
    const { prefillTokensPerSecond, decodeTokensPerSecond } = believedSpeed(member);
    const breaker = this.#breakers.get(peer);
    return {
      peer,
      slots: believedSlots(member),
      // What others have there is as old as its last heartbeat. A score or an embedding is soon done: nobody goes elsewhere for that.
      jobs: (session?.load.others ?? 0) + this.#ownJobs(peer),
      prefillTokensPerSecond,
      decodeTokensPerSecond,
      rttMs: session?.rttMs ?? 0,
      cachedTokens,
      reputation: trust.of(peer),
      isOpen: isLeftOut || !session?.isAlive || (breaker ? breakerState(breaker, nowMs()) === 'open' : false),
    };
  }

  #offered(peer: string) {
    const { sha256, vocabularySha256 } = this.#options;
    const models = this.#deps.directory.worker(peer)?.offer.models;
    return models?.find((model) => model.sha256 === sha256 && model.vocabularySha256 === vocabularySha256);
  }

  #publish(members: readonly FleetMember[]): void {
    this.#members = members;
    this.#indexes = new Map(members.map(({ peer }, index) => [peer, index]));
    this.#draw = weightedDraw(
      members.map((member) => believedSlots(member) * Math.max(1, believedSpeed(member).decodeTokensPerSecond)),
    );
    this.#slots = members.reduce((sum, member) => sum + believedSlots(member), 0);
  }
}
