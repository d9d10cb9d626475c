// The connected workers of one model: chooses the next worker, and learns from the outcome.
import type { Job } from '@strata/engine';
import {
  type Ability,
  afterAsked,
  afterFailure,
  afterRefusal,
  afterSuccess,
  type Breaker,
  breakerState,
  CLOSED,
  choosePlacement,
  type Directory,
  lackingOf,
  type PlacementCandidate,
  type PrefixMap,
  type WeightedDraw,
  weightedDraw,
} from '@strata/inference';
import { LRUCache } from 'lru-cache';
import type { Trust } from '../audit/trust.ts';
import type { WorkerSession } from '../session/worker-session.ts';
import { afterServed, believedSlots, believedSpeed, type FleetMember, newMember, type Served } from './fleet-member.ts';
import type { ModelLoads } from './model-loads.ts';

export interface Chosen {
  readonly session: WorkerSession;
  /** At least 50, so that timer granularity does not trigger hedged requests. */
  readonly expectedFirstTokenMs: number;
  /** Measured by this gateway if there are enough samples, otherwise as reported by the worker. 0: unknown. */
  readonly decodeTokensPerSecond: number;
  /** The context length in its offer at the time of the choice: the worker may end the answer when it is full. */
  readonly contextLength: number;
  /** The expected time in which the worker loads the model first; 0: it is loaded. */
  readonly loadMs: number;
}

/** A job, and what its worker must be able to do. */
export type Wanted = Pick<Job, 'prompt' | 'given'> & { readonly needs?: readonly Ability[] };

export interface ChooseOptions {
  readonly except: ReadonlySet<string>;
  /** Also workers whose probe has no outcome yet. */
  readonly withProbed?: boolean;
}

interface CandidateOptions extends Required<Pick<ChooseOptions, 'withProbed'>> {
  readonly cachedTokens: number;
  readonly isExcluded: boolean;
}

export interface Fleet {
  readonly isReady: boolean;
  /** Whether any worker has loaded the model. */
  readonly isLoaded: boolean;
  /** The number of answers that all workers together can generate concurrently. */
  readonly slots: number;
  /** Undefined if no worker is left. The caller must report the outcome with one of the methods below. */
  choose(job: Wanted, options: ChooseOptions): Chosen | undefined;
  /** What none of the workers can do, if there are any; absent: they can do everything. */
  lacking?(needs: readonly Ability[]): Ability | undefined;
  /** A part of an answer succeeded: its speed, concurrency and cached tokens affect later choices. */
  noteServed(served: Served): void;
  /** A call other than an answer succeeded: a score or an embedding. */
  noteAnswered(peer: string): void;
  noteLost(peer: string, loss: string): void;
}

export interface LiveFleetOptions {
  readonly sha256: string;
  readonly vocabularySha256: string;
}

export interface LiveFleetDeps {
  /** By peer; its owner calls `refresh` after changes. */
  readonly sessions: ReadonlyMap<string, WorkerSession>;
  readonly directory: Pick<Directory, 'worker'>;
  /** Can be shared between models. */
  readonly prefixes: PrefixMap;
  readonly trust: Pick<Trust, 'of'>;
  /** Must be shared between models: it knows what a load would close. */
  readonly loads: ModelLoads;
  /** A monotonic clock in milliseconds. */
  readonly nowMs: () => number;
  /** From 0 to below 1. */
  readonly random: () => number;
}

/** Losses that are not the worker's fault, and the backoff after each. */
const FAULTLESS_BACKOFF_MS: ReadonlyMap<string, number> = new Map([
  ['busy', 250],
  // A worker that is still connected after this time has not left.
  ['leaving', 10_000],
  // Another worker may have a larger context.
  ['full', 0],
]);
/** Losses after which the worker's cache is empty. */
const CACHE_LOST: ReadonlySet<string> = new Set(['disconnected', 'engine-failed']);
/** Hedging at a multiple of the expected time must not be triggered by timer granularity. */
const MIN_EXPECTED_MS = 50;
/** Maximum number of workers that are remembered, so that reconnecting does not reset failures and measurements. */
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
  /**
   * By peer: our jobs including those assigned in this iteration of the event loop, which have not reached the session
   * yet.
   */
  readonly #assigned = new Map<string, number>();

  constructor(options: LiveFleetOptions, deps: LiveFleetDeps) {
    this.#options = options;
    this.#deps = deps;
    this.refresh();
  }

  get isReady(): boolean {
    return this.#slots > 0;
  }

  get isLoaded(): boolean {
    return this.#members.some(({ claim }) => claim.loadMs === undefined);
  }

  get slots(): number {
    return this.#slots;
  }

  /** Updates the members after a change of connections, offers or trust. */
  refresh(): void {
    const members: FleetMember[] = [];
    for (const [peer, session] of this.#deps.sessions) {
      const claim = session.isAlive && this.#deps.trust.of(peer) > 0 ? this.#offered(peer) : undefined;
      if (!claim) continue;
      const known = this.#remembered.get(peer);
      if (claim.loadMs === undefined) this.#deps.loads.noteEnded(peer, claim);
      members.push(known ? { ...known, claim } : newMember(peer, claim));
    }
    for (const { peer } of this.#members) if (!this.#deps.sessions.has(peer)) this.#deps.prefixes.forget(peer);
    this.#publish(members);
  }

  choose({ prompt, given, needs }: Wanted, { except, withProbed = false }: ChooseOptions): Chosen | undefined {
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
            withProbed,
            isExcluded:
              except.has(peer) ||
              prompt.length + replayTokens >= claim.contextLength ||
              lackingOf(claim.lacks, needs) !== undefined,
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
    this.#assignTo(placement.peer);
    this.#deps.loads.noteAsked(placement.peer, member.claim);
    const { decodeTokensPerSecond } = believedSpeed(member);
    const expectedFirstTokenMs = Math.max(MIN_EXPECTED_MS, placement.expectedFirstTokenMs);
    const { contextLength, loadMs = 0 } = member.claim;
    return { session, expectedFirstTokenMs, decodeTokensPerSecond, contextLength, loadMs };
  }

  lacking(needs: readonly Ability[]): Ability | undefined {
    const lacking = this.#members.map(({ claim }) => lackingOf(claim.lacks, needs));
    return lacking.includes(undefined) ? undefined : lacking[0];
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
    // The weights of the draw may be slightly outdated until the next offer.
    else this.#members = members;
  }

  noteAnswered(peer: string): void {
    const breaker = this.#breakers.get(peer);
    if (breaker) this.#breakers.set(peer, afterSuccess(breaker));
  }

  noteLost(peer: string, loss: string): void {
    const { prefixes, nowMs, random } = this.#deps;
    const breaker = this.#breakers.get(peer) ?? CLOSED;
    const claim = this.#members[this.#indexes.get(peer) ?? -1]?.claim;
    // A server without token ids cannot be sent every prompt.
    const isUnwritable = loss === 'unusable' && lackingOf(claim?.lacks, ['continuation']) !== undefined;
    const backoffMs = isUnwritable ? 0 : FAULTLESS_BACKOFF_MS.get(loss);
    this.#breakers.set(
      peer,
      backoffMs === undefined ? afterFailure(breaker, nowMs(), random) : afterRefusal(breaker, nowMs(), backoffMs),
    );
    if (CACHE_LOST.has(loss)) prefixes.forget(peer);
    if (claim) this.#deps.loads.noteEnded(peer, claim);
  }

  #assignTo(peer: string): void {
    if (this.#assigned.size === 0) setImmediate(() => this.#assigned.clear());
    this.#assigned.set(peer, this.#ownJobs(peer) + 1);
  }

  /** A job that was assigned and has reached its session in the meantime is counted once. */
  #ownJobs(peer: string): number {
    return Math.max(this.#deps.sessions.get(peer)?.load.own ?? 0, this.#assigned.get(peer) ?? 0);
  }

  #candidate(member: FleetMember, { cachedTokens, isExcluded, withProbed }: CandidateOptions): PlacementCandidate {
    const { sessions, trust, nowMs, directory, loads } = this.#deps;
    const { peer, claim } = member;
    const offer = claim.loadMs === undefined ? undefined : directory.worker(peer)?.offer;
    const session = sessions.get(peer);
    const { prefillTokensPerSecond, decodeTokensPerSecond } = believedSpeed(member);
    const breaker = this.#breakers.get(peer) ?? CLOSED;
    const state = breakerState(withProbed ? { ...breaker, probeUntilMs: 0 } : breaker, nowMs());
    return {
      peer,
      slots: believedSlots(member),
      // The load by other gateways is as old as the last heartbeat. Scores and embeddings are short and not counted.
      jobs: (session?.load.otherGateways ?? 0) + this.#ownJobs(peer),
      prefillTokensPerSecond,
      decodeTokensPerSecond,
      rttMs: session?.rttMs ?? 0,
      ...(offer ? loads.expected(offer, claim) : { loadMs: claim.loadMs ?? 0, isLoading: false, evictionMs: 0 }),
      cachedTokens,
      reputation: trust.of(peer),
      isOpen: isExcluded || !session?.isAlive || state === 'open',
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
      // Workers that would have to load the model are inspected if no other has a free slot.
      members.map((member) =>
        member.claim.loadMs === undefined
          ? believedSlots(member) * Math.max(1, believedSpeed(member).decodeTokensPerSecond)
          : 0,
      ),
    );
    this.#slots = members.reduce((sum, member) => sum + believedSlots(member), 0);
  }
}
