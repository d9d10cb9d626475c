// The models of the network among those that are served: each comes when a worker has it, and goes when none has had it for a while.
import { type Engine, EngineError, type Vocabulary } from '@strata/engine';
import type { ModelGroup } from '@strata/inference';
import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import { Admission } from '../admission.ts';
import { EngineBackend } from '../engine-backend.ts';
import type { Models } from '../models.ts';
import { checkVocabulary, VocabularyLieError } from './check-vocabulary.ts';
import { networkName } from './network-names.ts';

export interface NetworkModelsOptions {
  /** SHA-256 by name. */
  readonly pins: ReadonlyMap<string, string>;
  readonly most: number;
  /** Answers of each model that may wait. */
  readonly queue: number;
  /** A model without workers stays for so long. 30,000 by default: a worker that restarts is back by then. */
  readonly graceMs?: number;
}

export interface NetworkModelsParts {
  readonly models: Models;
  /** Groups with their connected workers alone, largest first; each has at least one. */
  readonly groups: () => readonly ModelGroup[];
  /** Fetched from the group's workers when it is first asked. */
  readonly vocabularyOf: (sha256: string, peers: () => readonly string[]) => Vocabulary;
  /** `group` is the newest. */
  readonly engineOf: (group: () => ModelGroup, vocabulary: Vocabulary) => Engine;
  readonly slotsOf: (group: ModelGroup) => number;
  /** Hears which workers offer a vocabulary that is not that of their offer. */
  readonly onLie: (peers: readonly string[], reason: string) => void;
  readonly logger: Logger;
  readonly now: () => Date;
}

interface Served {
  readonly id: string;
  readonly engine: Engine;
  readonly admission: Admission;
  group: ModelGroup;
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
  /** By SHA-256: the vocabulary that was there first is the one that is believed. */
  readonly #served = new Map<string, Served>();
  readonly #opening = new Map<string, Promise<void>>();
  readonly #refused = new LRUCache<string, true>({ max: 2_000 });
  /** No longer served, with answers under way. */
  readonly #leaving = new Set<Served>();
  readonly #ending = new Set<Promise<void>>();
  #isClosed = false;

  constructor(options: NetworkModelsOptions, parts: NetworkModelsParts) {
    this.#options = options;
    this.#parts = parts;
  }

  /** SHA-256 and id of each. */
  list(): readonly { readonly id: string; readonly group: ModelGroup; readonly admission: Admission }[] {
    return [...this.#served.values()];
  }

  /** Brings what is served in line with what is offered. To be called when that changed, and now and then. */
  refresh(): void {
    if (this.#isClosed) return;
    const nowMs = performance.now();
    const groups = this.#parts.groups();
    const byKey = new Map(groups.map((group) => [keyOf(group), group]));
    for (const [sha256, served] of this.#served) {
      const group = byKey.get(keyOf(served.group));
      if (group) {
        served.group = group;
        served.seenAtMs = nowMs;
        served.admission.resize(Math.max(1, this.#parts.slotsOf(group)));
      } else if (nowMs - served.seenAtMs > (this.#options.graceMs ?? GRACE_MS)) this.#remove(sha256, served);
    }
    for (const served of this.#leaving) if (served.admission.size === 0) this.#end(served);
    for (const group of groups) if (this.#isWanted(group)) this.#open(group);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    await Promise.allSettled(this.#opening.values());
    const engines = [...this.#served.values(), ...this.#leaving].map(({ engine }) => engine);
    await Promise.allSettled([...engines.map((engine) => engine[Symbol.asyncDispose]()), ...this.#ending]);
  }

  #isWanted(group: ModelGroup): boolean {
    const { pins, most } = this.#options;
    const { sha256 } = group;
    if (this.#served.has(sha256) || this.#opening.has(sha256) || this.#refused.has(keyOf(group))) return false;
    if (this.#opening.size >= MOST_OPENING) return false;
    // Strangers' models do not keep out those that the operator named.
    return this.#served.size + this.#opening.size < most || [...pins.values()].includes(sha256);
  }

  #open(group: ModelGroup): void {
    const { sha256 } = group;
    const opening = this.#serve(group)
      .catch((error: unknown) => {
        const isLie = error instanceof VocabularyLieError;
        const ttl = isLie ? LIE_MS : error instanceof EngineError ? UNUSABLE_MS : RETRY_MS;
        this.#refused.set(keyOf(group), true, { ttl });
        this.#parts.logger.warn({ err: error, sha256, name: group.name }, 'a model of the network cannot be served');
        if (isLie) this.#parts.onLie(group.peers, error.message);
      })
      .finally(() => {
        this.#opening.delete(sha256);
        this.refresh();
      });
    this.#opening.set(sha256, opening);
  }

  async #serve(offered: ModelGroup): Promise<void> {
    const { models, vocabularyOf, engineOf, slotsOf, groups, logger, now } = this.#parts;
    const { sha256, vocabularySha256 } = offered;
    const newest = () => groups().find((group) => keyOf(group) === keyOf(offered)) ?? offered;
    const vocabulary = vocabularyOf(vocabularySha256, () => newest().peers);
    await checkVocabulary(vocabulary, offered.model);
    if (this.#isClosed) return;
    const id = networkName(offered, this.#options.pins, (taken) => models.has(taken));
    if (id === undefined) throw new Error(`another model has the name ${offered.name} already`);
    const admission = new Admission({ places: Math.max(1, slotsOf(offered)), queue: this.#options.queue });
    const engine = engineOf(() => served.group, vocabulary);
    const served: Served = { id, engine, admission, group: offered, seenAtMs: performance.now() };
    this.#served.set(sha256, served);
    models.add({
      id,
      backend: new EngineBackend(engine),
      created: Math.floor(now().getTime() / 1_000),
      admission,
    });
    logger.info({ model: id, sha256, workers: offered.peers.length }, 'the network serves a model');
  }

  #remove(sha256: string, served: Served): void {
    this.#served.delete(sha256);
    this.#parts.models.remove(served.id);
    this.#leaving.add(served);
    this.#parts.logger.info({ model: served.id, sha256 }, 'no worker has the model any more');
  }

  #end(served: Served): void {
    this.#leaving.delete(served);
    const { logger } = this.#parts;
    const ending = (async () => {
      try {
        await served.engine[Symbol.asyncDispose]();
      } catch (error) {
        logger.error({ err: error, model: served.id }, 'ending a model of the network');
      }
    })().finally(() => this.#ending.delete(ending));
    this.#ending.add(ending);
  }
}
