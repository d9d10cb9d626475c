// How far a download is, told often enough to be watched and seldom enough not to cost anything.

export interface DownloadProgress {
  /** Inside the repository. */
  readonly file: string;
  /** Of this file, those included that were here before. */
  readonly receivedBytes: number;
  /** Undefined where no server tells it. */
  readonly totalBytes: number | undefined;
  /** Some of the bytes were here before this connection. */
  readonly isResumed: boolean;
}

export interface Reporter {
  /** Says nothing when it has just spoken. */
  report(progress: DownloadProgress): void;
  /** Always speaks. */
  end(progress: DownloadProgress): void;
}

const EVERY_MS = 100;

export function createReporter(onProgress: (progress: DownloadProgress) => void = () => {}): Reporter {
  let spokeAt = Number.NEGATIVE_INFINITY;
  return {
    report(progress) {
      const now = performance.now();
      if (now - spokeAt < EVERY_MS) return;
      spokeAt = now;
      onProgress(progress);
    },
    end: onProgress,
  };
}
