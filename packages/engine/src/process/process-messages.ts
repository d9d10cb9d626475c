// What the service's process and an engine's process say to each other, by structured clone.
import type { ChatPrompt, EngineErrorCode, Job, JobEvent, ScoreJob } from '../engine.ts';

export type VocabularyCall =
  | { readonly kind: 'tokenize'; readonly text: string; readonly hasControl: boolean }
  | { readonly kind: 'detokenize'; readonly tokens: readonly number[] }
  | { readonly kind: 'render'; readonly prompt: ChatPrompt };

/** Which file the process is for: a vocabulary's is told once it runs, so that one can wait for the next file. */
export interface OpenCall {
  readonly kind: 'open';
  readonly file: string;
  readonly contextLength?: number;
}

export type Call =
  | VocabularyCall
  | OpenCall
  | { readonly kind: 'embed'; readonly tokens: readonly number[] }
  | { readonly kind: 'score'; readonly job: ScoreJob }
  | { readonly kind: 'generate'; readonly job: Job };

export type ToEngine =
  | { readonly kind: 'call'; readonly id: number; readonly call: Call }
  | { readonly kind: 'abort'; readonly id: number }
  /** So many tokens of a job were taken by its reader, in all. */
  | { readonly kind: 'taken'; readonly id: number; readonly tokens: number }
  /** Is answered with a pong at once, or the process hears nothing. */
  | { readonly kind: 'ping' };

export type FromEngine<Info> =
  | { readonly kind: 'pong' }
  | { readonly kind: 'ready'; readonly info: Info }
  | { readonly kind: 'unusable'; readonly code: EngineErrorCode; readonly message: string }
  /** Some events of a job, in order; those of one turn of the engine come together. */
  | { readonly kind: 'events'; readonly id: number; readonly events: readonly JobEvent[] }
  | { readonly kind: 'value'; readonly id: number; readonly value: unknown }
  | { readonly kind: 'failed'; readonly id: number; readonly code: EngineErrorCode; readonly message: string };
