// Verify what a Strata service answered, in Node or in a browser.
export type { AnswerProblem } from './answer-problem.ts';
export {
  type ClientOptions,
  type DetachedInput,
  type Unchecked,
  type VerifiedAnswer,
  type VerifyBodyOptions,
  type VerifyUrlOptions,
  verifyBody,
  verifyDetached,
  verifyUrl,
} from './verify-answer.ts';
export * from './zz-stub.ts';
