// Tokens and text of a model whose weights are on another machine, in a separate process: vocabulary and template are
// untrusted, and may crash, loop or exhaust memory. The process is then killed, and restarted for the next call.
import { type ChatPrompt, EngineError, type ModelMarks, type Vocabulary } from '../engine.ts';
import type { EngineChild } from '../process/engine-child.ts';
import type { VocabularyCall } from '../process/process-messages.ts';
import { readVocabularyFacts, type VocabularyFacts } from './vocabulary-file.ts';
import { startVocabularyChild, type VocabularySpare } from './vocabulary-spare.ts';

export interface VocabularyOptions {
  /** Context length of the prompts: tools as text may not fill it. Defaults to the engine's own default. */
  readonly contextLength?: number;
  /** Time limit of one call in milliseconds; 5,000 by default. */
  readonly callMs?: number;
  /** Backoff in milliseconds after repeated failures; 60,000 by default. */
  readonly restMs?: number;
  /** Supplies a process that is already running. */
  readonly spare?: Pick<VocabularySpare, 'take'>;
}

/** The text of tokens, one by one: the bytes of one may end in the middle of a character. */
export interface TokenBytes {
  bytes(tokens: readonly number[]): Promise<readonly Uint8Array[]>;
}

export interface OpenedVocabulary extends Vocabulary, TokenBytes, AsyncDisposable {
  readonly facts: VocabularyFacts;
}

/** What only the owner of a model asks for. */
export interface ModelVocabulary extends OpenedVocabulary {
  /** The tokens that end an answer. */
  ends(): Promise<readonly number[]>;
  /** The text that has these tokens, with that of control tokens. */
  spell(tokens: readonly number[]): Promise<string>;
}

/** Far longer than the largest request takes. */
const CALL_MS = 5_000;
/** After this many consecutive crashes in calls of one kind, such calls fail at once for a while. */
const MAX_DEATHS = 3;
const REST_MS = 60_000;
/** Maximum queue of calls: a third of a second of work in normal operation. */
const MAX_WAITING = 1_024;

/** Opens a vocabulary file, or a model file whose weights are not loaded. Rejects with EngineError `model-unusable`. */
export async function openVocabulary(file: string, options: VocabularyOptions = {}): Promise<ModelVocabulary> {
  // Limits and format are checked before native code reads the file.
  const facts = await readVocabularyFacts(file);
  const vocabulary = new VocabularyEngine(file, facts, options);
  await vocabulary.start();
  return vocabulary;
}

interface Failures {
  readonly deaths: number;
  /** By the monotonic clock, in milliseconds. */
  readonly lastAt: number;
}

class VocabularyEngine implements ModelVocabulary {
  readonly facts: VocabularyFacts;
  readonly #file: string;
  readonly #options: VocabularyOptions;
  readonly #failures = new Map<VocabularyCall['kind'], Failures>();
  #child: EngineChild<void> | undefined;
  /** Calls are served sequentially: each has its own time limit. */
  #queue: Promise<unknown> = Promise.resolve();
  #waiting = 0;
  #isStopped = false;

  constructor(file: string, facts: VocabularyFacts, options: VocabularyOptions) {
    this.facts = facts;
    this.#file = file;
    this.#options = options;
  }

  async tokenize(text: string, { hasControl = false } = {}): Promise<readonly number[]> {
    return (await this.#ask({ kind: 'tokenize', text, hasControl })) as number[];
  }

  async detokenize(tokens: readonly number[]): Promise<string> {
    return (await this.#ask({ kind: 'detokenize', tokens })) as string;
  }

  async spell(tokens: readonly number[]): Promise<string> {
    return (await this.#ask({ kind: 'spell', tokens })) as string;
  }

  async bytes(tokens: readonly number[]): Promise<readonly Uint8Array[]> {
    return (await this.#ask({ kind: 'bytes', tokens })) as Uint8Array[];
  }

  async render(prompt: ChatPrompt): Promise<readonly number[]> {
    return (await this.#ask({ kind: 'render', prompt })) as number[];
  }

  async marks(): Promise<ModelMarks> {
    return (await this.#ask({ kind: 'marks' })) as ModelMarks;
  }

  async ends(): Promise<readonly number[]> {
    return (await this.#ask({ kind: 'ends' })) as number[];
  }

  /** Rejects with EngineError `model-unusable`. */
  async start(): Promise<EngineChild<void>> {
    if (this.#isStopped) throw new EngineError('crashed', 'the vocabulary was closed');
    if (this.#child && !this.#child.isOver) return this.#child;
    const { contextLength, spare } = this.#options;
    const child = spare?.take() ?? startVocabularyChild();
    this.#child = child;
    try {
      await child.ready;
      await child.call({ kind: 'open', file: this.#file, ...(contextLength === undefined ? {} : { contextLength }) })
        .value;
    } catch (cause) {
      await child[Symbol.asyncDispose]();
      throw new EngineError('model-unusable', 'the vocabulary cannot be loaded', { cause });
    }
    return child;
  }

  async #ask(call: VocabularyCall): Promise<unknown> {
    if (this.#waiting >= MAX_WAITING)
      throw new EngineError('crashed', "too many calls are waiting for the model's vocabulary");
    this.#waiting += 1;
    const turn = this.#queue.then(() => this.#serve(call));
    this.#queue = turn.catch(() => {});
    return turn.finally(() => {
      this.#waiting -= 1;
    });
  }

  async #serve(call: VocabularyCall): Promise<unknown> {
    for (;;) {
      const { deaths = 0, lastAt = 0 } = this.#failures.get(call.kind) ?? {};
      if (deaths >= MAX_DEATHS && performance.now() - lastAt < (this.#options.restMs ?? REST_MS))
        throw failed(call, 'failed repeatedly');
      const child = await this.start();
      const { isLate, end } = this.#deadline(child);
      try {
        const value = await child.call(call).value;
        this.#failures.delete(call.kind);
        return value;
      } catch (error) {
        // An error that the process reported itself is not a failure of the process.
        if (!child.isOver && !isLate()) throw error;
        this.#failures.set(call.kind, { deaths: deaths + 1, lastAt: performance.now() });
        if (isLate()) throw failed(call, 'took too long');
      } finally {
        end();
      }
    }
  }

  #deadline(child: EngineChild<void>) {
    let isLate = false;
    const timer = setTimeout(() => {
      // A response that arrived while this process was blocked is processed first.
      immediate = setImmediate(() => {
        isLate = true;
        child.kill('too slow');
      });
    }, this.#options.callMs ?? CALL_MS);
    let immediate: NodeJS.Immediate | undefined;
    const end = () => {
      clearTimeout(timer);
      clearImmediate(immediate);
    };
    return { isLate: () => isLate, end };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isStopped = true;
    await this.#child?.[Symbol.asyncDispose]();
  }
}

function failed({ kind }: VocabularyCall, what: string): EngineError {
  return kind === 'render'
    ? new EngineError('template-failed', `the model's chat template ${what}`)
    : new EngineError('model-unusable', `the model's vocabulary ${what}`);
}
