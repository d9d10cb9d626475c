// Valid frames of every kind, drawn from a seed.
import { seededRandom } from '../../test/simulated-fleet.ts';
import { FAILURE_CODES, type Frame, type Offer, type SegmentReceipt } from '../frame.ts';

export type Draw = (below: number) => number;

/** Whole numbers from 0 to below the bound. */
export function seeded(seed: number): Draw {
  const random = seededRandom(seed);
  return (below) => Math.floor(random() * below);
}

const MOST_UINT32 = 2 ** 32 - 1;
const TEXTS = ['', 'a', 'llama.cpp', 'Grüße', '日本', '\u{1f600}', '\ufeffmark', 'line\nline'];

class Drawn {
  readonly #draw: Draw;

  constructor(draw: Draw) {
    this.#draw = draw;
  }

  one<T>(...of: readonly T[]): T {
    return of[this.#draw(of.length)] as T;
  }
  list<T>(most: number, make: () => T): T[] {
    return Array.from({ length: this.one(0, 1, this.#draw(most + 1)) }, make);
  }
  bytes(length: number): Uint8Array {
    return Uint8Array.from({ length }, () => this.#draw(256));
  }
  upTo(most: number): Uint8Array {
    return this.bytes(this.#draw(most + 1));
  }
  hex(): string {
    return Array.from({ length: 64 }, () => this.#draw(16).toString(16)).join('');
  }
  whole(): number {
    return this.one(0, 1, 127, 128, MOST_UINT32, this.#draw(MOST_UINT32));
  }
  id(): number {
    return Math.max(1, this.whole());
  }
  large(): number {
    return this.one(0, 2 ** 32, Number.MAX_SAFE_INTEGER, this.#draw(2 ** 52));
  }
  text(): string {
    return this.one(...TEXTS);
  }
  share(): number {
    return this.one(0, 1, this.#draw(1_000) / 1_000);
  }
  /** Of 32 bits. */
  float(): number {
    return Math.fround(this.one(0, 1, 100, this.#draw(100_000) / 1_001));
  }
  token(): number {
    return this.one(0, 1, 2 ** 21 - 1, this.#draw(2 ** 21));
  }
  tokens(): number[] {
    return this.list(50, () => this.token());
  }
  choice() {
    return { token: this.token(), text: this.upTo(8), logprob: this.one(0, -0.5, -1e-300, -this.#draw(1_000) / 7) };
  }
  sampling() {
    return {
      temperature: this.share() * 2,
      topP: this.share(),
      topK: this.whole(),
      minP: this.share(),
      presencePenalty: this.share() - 0.5,
      frequencyPenalty: this.one(0, -2, 2),
      logitBias: this.list(5, () => ({ token: this.token(), bias: this.one(-100, 0, 100) })),
      seed: this.whole(),
    };
  }
  grammar() {
    return this.one({}, { grammar: '' }, { grammar: 'root ::= "日"' });
  }
}

export function randomFrame(draw: Draw, kind: Frame['kind']): Frame {
  const some = new Drawn(draw);
  const id = some.id();
  switch (kind) {
    case 'hello':
      return { kind, version: some.whole(), software: some.text(), role: some.one('gateway', 'worker') };
    case 'request':
      return {
        ...{ kind, id, nonce: some.bytes(16), modelSha256: some.hex(), prompt: some.tokens(), given: some.tokens() },
        ...{ replay: some.one('exact', 'fast'), maxTokens: 1 + draw(1_000_000), sampling: some.sampling() },
        ...some.grammar(),
        ...some.one({}, { cacheKey: '' }, { cacheKey: some.text() }),
        ...some.one({}, { topLogprobs: 0 }, { topLogprobs: 20 }),
        credit: some.whole(),
        ...some.one({}, { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' }),
      };
    case 'cancel':
      return { kind, id };
    case 'credit':
      return { kind, id, tokens: some.whole() };
    case 'begin':
      return { kind, id, cachedTokens: some.whole() };
    case 'tokens': {
      const tokens = [some.choice(), ...some.list(10, () => some.choice())];
      return {
        ...{ kind, id, position: some.whole() },
        tokens: tokens.map((choice) => ({ ...choice, top: some.list(4, () => some.choice()) })),
      };
    }
    case 'done':
      return {
        ...{ kind, id, reason: some.one('stop', 'length', 'cancelled') },
        ...{ receipt: some.upTo(300), signature: some.bytes(64) },
      };
    case 'failed':
      return { kind, id: some.whole(), code: some.one(...FAILURE_CODES), message: some.text() };
    case 'pulse':
      return {
        ...{ kind, running: some.whole(), waiting: some.whole() },
        jobs: some.list(9, () => ({ id: some.id(), phase: some.one('waiting', 'reading', 'writing') })),
      };
    case 'score':
      return {
        ...{ kind, id, modelSha256: some.hex(), prompt: some.tokens(), answer: some.tokens() },
        ...{ hasEnd: some.one(true, false), sampling: some.sampling(), ...some.grammar() },
        ...some.one({}, { maxTokens: 1 + draw(1_000_000) }),
      };
    case 'scored':
      return { kind, id, margins: some.list(50, () => some.float()) };
    case 'embed':
      return { kind, id, modelSha256: some.hex(), tokens: some.tokens() };
    case 'embedded':
      return { kind, id, vector: some.list(50, () => some.float()) };
    case 'vocabularyAsk':
      return { kind, id, vocabularySha256: some.hex(), from: some.whole() };
    case 'vocabularyPart':
      return { kind, id, from: some.whole(), sizeBytes: some.whole(), part: some.upTo(100) };
    case 'settle':
      return { kind, nonce: some.bytes(16), signature: some.bytes(64) };
    case 'offer':
      return { kind, offer: some.upTo(300), signature: some.bytes(64) };
    default:
      throw kind satisfies never;
  }
}

export function randomOffer(draw: Draw): Offer {
  const some = new Drawn(draw);
  return {
    ...{ peer: `peer-${draw(100)}`, sequence: some.large(), issuedAtMs: some.large(), expiresAtMs: some.large() },
    software: some.text(),
    models: some.list(3, () => ({
      ...{ name: `model ${draw(9)}`, sha256: some.hex(), vocabularySha256: some.hex(), templateSha256: some.hex() },
      ...{ architecture: some.text(), quantisation: some.text(), sizeBytes: some.large(), parameters: some.large() },
      ...{ contextLength: 1 + draw(100_000), vocabularySize: 1 + draw(2 ** 21), longestToken: 1 + draw(16_384) },
      ...{ slots: 1 + draw(10_000), prefillTokensPerSecond: some.share(), decodeTokensPerSecond: some.share() },
      engine: some.text(),
    })),
    ...{ running: some.whole(), waiting: some.whole() },
  };
}

export function randomReceipt(draw: Draw): SegmentReceipt {
  const some = new Drawn(draw);
  return {
    ...{ version: 1, nonce: some.bytes(16), worker: 'worker', gateway: 'gateway', modelSha256: some.hex() },
    ...{ promptSha256: some.hex(), requestSha256: some.hex(), from: some.whole(), to: some.whole() },
    ...{ chainHead: some.hex(), promptTokens: some.whole(), cachedTokens: some.whole() },
    ...{ reason: some.one('stop', 'length', 'cancelled'), engine: some.text(), startedAtMs: some.large() },
    ...{ firstTokenAtMs: some.large(), endedAtMs: some.large() },
  };
}
