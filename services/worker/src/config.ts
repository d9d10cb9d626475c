// The only reader of the environment: STRATA_* -> one validated WorkerConfig.

export interface WorkerConfig {
  readonly dataDirectory: string;
}

export function readWorkerConfig(_env: Readonly<Record<string, string | undefined>>): WorkerConfig {
  throw new Error('not yet');
}
