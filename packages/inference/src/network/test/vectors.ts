// The vectors of vectors/network for other implementations: generated here, written by write-vectors.ts, checked by segment.test.ts.

import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import { casesOf, ed25519Key } from '../../../../../tests/support/index.ts';
import { chooseToken, GREEDY, gumbel, type Sampling, uniform } from '../../sampling.ts';
import { FAILURE_CODES, Frame, type SegmentReceipt } from '../protocol/frame.ts';
import { decodeFrame, encodeFrame, encodeOffer, encodeSegmentReceipt, FrameError } from '../protocol/frame-codec.ts';
import type { Offer } from '../protocol/offer.ts';
import * as segments from '../protocol/segment.ts';
import { drawFrom, randomFrame } from './random-frames.ts';

const { bytesSha256, offerSignedBytes, segmentSignedBytes, settleSignedBytes } = segments;

/** By file name; each file is JSON. Bytes are hexadecimal. */
export const networkVectors = (): Readonly<Record<string, unknown>> => ({
  'frames.json': frames(),
  'read-alike.json': readAlike(),
  'refused.json': refused(),
  'segment.json': segment(),
  'offer.json': offer(),
  'draws.json': draws(),
});

/** JSON of a value that contains bytes. */
export const plain = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (_, each) => (each instanceof Uint8Array ? bytesToHex(each) : each)));

/** A libp2p peer id of an Ed25519 key: the identity multihash of the key's Protocol Buffers form, in base58. */
const PEER_ID = '002408011220';

function testKey(byte: number) {
  const key = ed25519Key(byte);
  const publicKey = bytesToHex(key.publicKey);
  const seed = bytesToHex(new Uint8Array(32).fill(byte));
  return { seed, publicKey, peer: base58(PEER_ID + publicKey), sign: key.sign };
}

const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

/** For hexadecimal numbers that start with one zero byte. */
function base58(hex: string): string {
  let text = '';
  for (let rest = BigInt(`0x${hex}`); rest > 0n; rest /= 58n) text = (ALPHABET[Number(rest % 58n)] ?? '') + text;
  return `1${text}`;
}

const WORKER = testKey(1);
const GATEWAY = testKey(2);
const dataOf = ({ sign: _, ...rest }: typeof WORKER) => rest;

/** Two frames of every kind, and every failure code. */
function frames() {
  const drawn = Frame.options.flatMap(({ shape: { kind } }) => [3, 4].map((n) => randomFrame(drawFrom(n), kind.value)));
  const failures = FAILURE_CODES.map((code) => ({ kind: 'failed', id: 7, code, message: 'words' }) as const);
  return [...drawn, ...failures].map((frame) => ({ frame: plain(frame), hex: bytesToHex(encodeFrame(frame)) }));
}

type Cases = readonly (readonly [name: string, hex: string])[];
const unspaced = (cases: Cases) => cases.map(([name, hex]) => [name, hex.replaceAll(' ', '')] as const);

/** Encodings that differ from ours but have the same meaning. */
function readAlike() {
  const cases: Cases = casesOf('inference', 'frames read alike');
  return unspaced(cases).map(([name, hex]) => ({ name, hex, frame: plain(decodeFrame(hexToBytes(hex))) }));
}

/** Byte strings that are not frames, and the reason. */
function refused() {
  const cases: Cases = casesOf('inference', 'refused frames');
  return unspaced(cases).map(([name, hex]) => ({ name, hex, code: codeOf(hex) }));
}

function codeOf(hex: string): string {
  try {
    return `read: ${decodeFrame(hexToBytes(hex)).kind}`;
  } catch (error) {
    return error instanceof FrameError ? error.code : String(error);
  }
}

/** One request from its frame to both signatures. */
function segment() {
  const nonce = Uint8Array.from({ length: 16 }, (_, i) => i);
  const modelSha256 = 'ab'.repeat(32);
  const prompt = [1, 128, 16_384, 2 ** 21 - 1];
  const given = [5, 6];
  const tokens = [7, 300, 70_000];
  const request = encodeFrame({
    ...{ kind: 'request', id: 1, nonce, modelSha256, prompt, given, replay: 'exact', maxTokens: 5, credit: 256 },
    sampling: { ...GREEDY, temperature: 0.7, topP: 0.9, logitBias: [{ token: 1, bias: -1.5 }], seed: 42 },
  });
  const start = { nonce, modelSha256, promptSha256: segments.tokensSha256(prompt), from: given.length };
  const chain = new segments.TokenChain(start);
  const chainHeads = [chain.head];
  for (const token of tokens) {
    chain.push(token);
    chainHeads.push(chain.head);
  }
  const receipt: SegmentReceipt = {
    ...{ version: 1, ...start, worker: WORKER.peer, gateway: GATEWAY.peer, requestSha256: bytesSha256(request) },
    ...{ to: given.length + tokens.length, chainHead: chain.head, promptTokens: prompt.length, cachedTokens: 2 },
    ...{ reason: 'length', engine: 'llama.cpp b0', startedAtMs: 1_790_000_000_000 },
    ...{ firstTokenAtMs: 1_790_000_000_050, endedAtMs: 1_790_000_000_100 },
  };
  const bytes = encodeSegmentReceipt(receipt);
  const signature = WORKER.sign(segmentSignedBytes(bytes));
  const agreed = GATEWAY.sign(settleSignedBytes(bytes));
  return {
    ...{ worker: dataOf(WORKER), gateway: dataOf(GATEWAY), request: bytesToHex(request), tokens, chainHeads },
    ...{ receipt: plain(receipt), receiptHex: bytesToHex(bytes) },
    ...{ workerSigns: bytesToHex(segmentSignedBytes(bytes)), workerSignature: bytesToHex(signature) },
    done: bytesToHex(encodeFrame({ kind: 'done', id: 1, reason: 'length', receipt: bytes, signature })),
    ...{ gatewaySigns: bytesToHex(settleSignedBytes(bytes)), gatewaySignature: bytesToHex(agreed) },
    settle: bytesToHex(encodeFrame({ kind: 'settle', nonce, signature: agreed })),
  };
}

function offer() {
  const value: Offer = {
    ...{ peer: WORKER.peer, sequence: 1_790_000_000_000, issuedAtMs: 1_790_000_000_000 },
    ...{ expiresAtMs: 1_790_000_120_000, software: 'strata/0.1.0', running: 1, waiting: 0 },
    models: [
      {
        ...{ name: 'tiny', sha256: 'ab'.repeat(32), vocabularySha256: 'cd'.repeat(32) },
        templateSha256: 'ef'.repeat(32),
        ...{ architecture: 'llama', quantisation: 'Q4_K_M', sizeBytes: 5_000_000_000, parameters: 8_000_000_000 },
        ...{ contextLength: 8_192, vocabularySize: 128_256, longestToken: 128, slots: 4 },
        ...{ prefillTokensPerSecond: 512.5, decodeTokensPerSecond: 20, engine: 'llama.cpp b0' },
      },
    ],
  };
  const bytes = encodeOffer(value);
  const signature = WORKER.sign(offerSignedBytes(bytes));
  return {
    ...{ worker: dataOf(WORKER), offer: value, offerHex: bytesToHex(bytes) },
    ...{ workerSigns: bytesToHex(offerSignedBytes(bytes)), workerSignature: bytesToHex(signature) },
    frame: bytesToHex(encodeFrame({ kind: 'offer', offer: bytes, signature })),
  };
}

/** Noise, and tokens sampled with it. */
function draws() {
  const units = [[0, 0, 0] as const, [1, 0, 0] as const, [0, 1, 0] as const, [0, 0, 1] as const];
  const keys = [...units, [2 ** 32 - 1, 999_999, 2 ** 21 - 1] as const, [42, 17, 128_255] as const];
  const noise = keys.map(([seed, position, token]) => {
    const share = uniform(seed, position, token);
    return { seed, position, token, uniform: share, gumbel: gumbel(seed, position, token) };
  });
  const candidates = [2.5, 2.25, 1, 0.5, 0, -1, -3].map((logit, i) => ({ token: 10 + i, logit }));
  const settings = casesOf<Partial<Sampling>[]>('inference', 'settings of sampling');
  const drawn = settings.flatMap((setting) => {
    const tokens = Array.from({ length: 12 }, (_, position) =>
      chooseToken(candidates, { ...GREEDY, ...setting, seed: 42 }, { position, given: new Map([[10, 2]]) }),
    );
    return { setting: { ...setting, seed: 42 }, given: [10, 10], tokensByPosition: tokens };
  });
  return { noise, candidates, drawn };
}
