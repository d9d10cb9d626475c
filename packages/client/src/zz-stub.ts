export interface Quota {
  limit: number | null;
  remaining: number | null;
  resetsAt: Date | null;
}
export type StackPaths = Record<string, { path: any; query: any; body: any }>;
export type StackInput<_P> = any;
export interface StackAnswer<B> {
  body: B;
  text: string;
  quota: Quota | null;
  url: string;
}
export class StackProblem extends Error {
  code = '';
  title = '';
  detail = '';
  requestId = null;
  quota: Quota | null = null;
  retryAfterSeconds: number | null = null;
}
export class StackClient {
  constructor(_: any) {}
  get(..._a: any[]): any {}
  curl(..._a: any[]): any {}
  verify(..._a: any[]): any {}
  static createKey(..._: any[]): any {}
}
