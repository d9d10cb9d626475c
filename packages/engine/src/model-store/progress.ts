// Download progress, reported at a limited rate.

export interface DownloadProgress {
  /** Inside the repository. */
  readonly file: string;
  /** Of this file, including bytes received before this connection. */
  readonly receivedBytes: number;
  /** Undefined if no server announced it. */
  readonly totalBytes: number | undefined;
  /** Some of the bytes were received before this connection. */
  readonly isResumed: boolean;
}

export interface Reporter {
  /** Drops reports within the interval. */
  report(progress: DownloadProgress): void;
  /** Always reported. */
  end(progress: DownloadProgress): void;
}

const REPORT_INTERVAL_MS = 100;

export function createReporter(onProgress: (progress: DownloadProgress) => void = () => {}): Reporter {
  let reportedAt = Number.NEGATIVE_INFINITY;
  return {
    report(progress) {
      const now = performance.now();
      if (now - reportedAt < REPORT_INTERVAL_MS) return;
      reportedAt = now;
      onProgress(progress);
    },
    end: onProgress,
  };
}
