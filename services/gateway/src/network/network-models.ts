// The models of the network among those that are served: each comes when a worker has it, and goes when none has had it for a while.
import { type Engine, EngineError, type Vocabulary } from '@strata/engine';
import { bindNames, type ModelGroup } from '@strata/inference';
import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import { Admission } from '../admission.ts';
import { EngineBackend } from '../engine-backend.ts';
import type { Models } from '../models.ts';
import { checkVocabulary, VocabularyLieError } from './check-vocabulary.ts';
import type { Fleet } from './fleet.ts';

export interface NetworkModelsOptions {
  /** Models served at most; pinned ones besides. */
  readonly most: number;
  /** SHA-256 by name. */
  readonly pins: ReadonlyMap<string, string>;
  /** Answers of each model that may wait. */
  readonly queue: number;
  /** A model without workers stays for so long. 30,000 by default: a worker that restarts is back by then. */
  readonly graceMs?: number;
}

export interface NetworkModelsParts {
  readonly models: Models;
  readonly groups: () => readonly ModelGroup[];
  /** What a worker counts for: 0 where it is not connected or not trusted, at most 1. */
  readonly weigh: (peer: string) => number;
  /** The vocabulary is that of the group, fetched from whichever of its workers are there when it is needed. */
  readonly vocabularyOf: (sha256: string, peers: () => readonly string[]) => Vocabulary;
  /** `group` gives the newest. */
  readonly openModel: (group: () => ModelGroup, vocabulary: Vocabulary) => NetworkModelParts;
  /** Hears which workers offer a vocabulary that is not that of their offer. */
  readonly onLie: (peers: readonly string[], reason: string) => void;
  readonly logger: Logger;
  readonly now: () => Date;
}

export interface NetworkModelParts {
  readonly engine: Engine;
  readonly fleet: Pick<Fleet, 'slots'> & { refresh(): void };
}

interface Served extends NetworkModelParts {
  readonly id: string;
  readonly vocabulary: Vocabulary;
  readonly admission: Admission;
  group: ModelGroup;
  /** When a worker was there last. */
  seenAtMs: number;
}

const GRACE_MS = 30_000;
/** A model whose vocabulary no worker gave is tried again soon; one that could not be opened, later; a lie, much later. */
const RETRY_MS = 5_000;
const UNUSABLE_MS = 60_000;
const LIE_MS = 600_000;
/** Vocabularies fetched and tried at the same time. */
const MOST_OPENING = 4;

/** A file with another vocabulary is another model. */
const keyOf = ({ sha256, vocabularySha256 }: ModelGroup) => `${sha256}/${vocabularySha256}`;

export class NetworkModels implements AsyncDisposable {
  readonly #options: NetworkModelsOptions;
  readonly #parts: NetworkModelsParts;
  /** By the name that the network gives it. */
  readonly #served = new Map<string, Served>();
  readonly #opening = new Map<string, Promise<void>>();
  readonly #refused = new LRUCache<string, true>({ max: 2_000 });
  /** No longer served, with answers under way. */
  readonly #leaving = new Set<Served>();
  readonly #ending = new Set<Promise<void>>();
  #bound: ReadonlyMap<string, string> = new Map();
  #isClosed = false;

  constructor(options: NetworkModelsOptions, parts: NetworkModelsParts) {
    this.#options = options;
    this.#parts = parts;
  }

  list(): readonly Pick<Served, 'id' | 'group' | 'admission' | 'fleet' | 'vocabulary'>[] {
    return [...this.#served.values()];
  }

  /** Brings what is served in line with what is offered. To be called when that changed, and now and then. */
  refresh(): void {
    if (this.#isClosed) return;
    const { groups, weigh } = this.#parts;
    const nowMs = performance.now();
    const { models, bound } = bindNames(groups(), { pinned: this.#options.pins, bound: this.#bound, weigh });
    this.#bound = bound;
    const isOffered = ({ peers }: ModelGroup) => peers.some((peer) => weigh(peer) > 0);
    for (const [name, served] of this.#served) {
      const group = models.get(name);
      const isSame = group !== undefined && keyOf(group) === keyOf(served.group);
      if (isSame && isOffered(group)) {
        served.group = group;
        served.seenAtMs = nowMs;
        served.fleet.refresh();
        served.admission.resize(Math.max(1, served.fleet.slots));
        // Another model has the name now, or nobody has this one any more.
      } else if ((group && !isSame && isOffered(group)) || nowMs - served.seenAtMs > this.#graceMs)
        this.#remove(name, served);
    }
    for (const served of this.#leaving) if (served.admission.size === 0) this.#end(served);
    for (const [name, group] of models) if (this.#isWanted(name, group) && isOffered(group)) this.#open(name, group);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    await Promise.allSettled(this.#opening.values());
    for (const served of [...this.#served.values(), ...this.#leaving]) this.#end(served);
    await Promise.allSettled(this.#ending);
  }

  get #graceMs(): number {
    return this.#options.graceMs ?? GRACE_MS;
  }

  #isWanted(name: string, group: ModelGroup): boolean {
    if (this.#served.has(name) || this.#opening.has(name) || this.#refused.has(keyOf(group))) return false;
    if (this.#opening.size >= MOST_OPENING) return false;
    // Strangers' models do not keep out those that the operator named.
    const { pins, most } = this.#options;
    const strangers = [...this.#served.keys(), ...this.#opening.keys()].filter((each) => !pins.has(each));
    return pins.has(name) || strangers.length < most;
  }

  #open(name: string, group: ModelGroup): void {
    const opening = this.#serve(name, group)
      .catch((error: unknown) => {
        const isLie = error instanceof VocabularyLieError;
        const ttl = isLie ? LIE_MS : error instanceof EngineError ? UNUSABLE_MS : RETRY_MS;
        this.#refused.set(keyOf(group), true, { ttl });
        this.#parts.logger.warn({ err: error, sha256: group.sha256, name }, 'a model of the network cannot be served');
        if (isLie) this.#parts.onLie(group.peers, error.message);
      })
      .finally(() => {
        this.#opening.delete(name);
        this.refresh();
      });
    this.#opening.set(name, opening);
  }

  async #serve(name: string, offered: ModelGroup): Promise<void> {
    const { models, vocabularyOf, openModel, groups, logger, now } = this.#parts;
    const newest = () => groups().find((group) => keyOf(group) === keyOf(offered)) ?? offered;
    const vocabulary = vocabularyOf(offered.vocabularySha256, () => newest().peers);
    await checkVocabulary(vocabulary, offered.model);
    if (this.#isClosed) return;
    // Models of the gateway's own settings keep their names.
    const id = models.has(name) ? `${name}@${offered.sha256.slice(0, 12)}` : name;
    if (models.has(id)) throw new Error(`another model has the names ${name} and ${id} already`);
    let served: Served | undefined;
    const { engine, fleet } = openModel(() => served?.group ?? offered, vocabulary);
    const admission = new Admission({ places: Math.max(1, fleet.slots), queue: this.#options.queue });
    const seenAtMs = performance.now();
    served = { id, engine, fleet, vocabulary, admission, group: offered, seenAtMs };
    this.#served.set(name, served);
    models.add({ id, backend: new EngineBackend(engine), created: Math.floor(now().getTime() / 1_000), admission });
    logger.info({ model: id, sha256: offered.sha256, workers: offered.peers.length }, 'the network serves a model');
  }

  #remove(name: string, served: Served): void {
    this.#served.delete(name);
    this.#parts.models.remove(served.id);
    this.#leaving.add(served);
    this.#parts.logger.info({ model: served.id, sha256: served.group.sha256 }, 'the network has a model no longer');
  }

  #end(served: Served): void {
    this.#leaving.delete(served);
    const ending = (async () => {
      try {
        await served.engine[Symbol.asyncDispose]();
      } catch (error) {
        this.#parts.logger.error({ err: error, model: served.id }, 'ending a model of the network');
      }
    })().finally(() => this.#ending.delete(ending));
    this.#ending.add(ending);
  }
}
