// The tables of jobs, for Kysely.
export interface JobTables {
  jobs: {
    id: string;
    created_at: number;
    /** 1: complete or failed. */
    is_ended: number;
    /** JSON of a `Job`. */
    body: string;
    /** Who writes the file or charges for it, and until when. */
    lease_owner: string | null;
    lease_until: number;
  };
  /** The content of files in order: of the upload (attempt 0), and of the file that an attempt wrote. */
  job_chunks: {
    job_id: string;
    attempt: number;
    n: number;
    created_at: number;
    bytes: Uint8Array;
  };
}
