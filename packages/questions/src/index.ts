// What @strata/questions offers: every question of the API as a tool, asked and shortened, and answers to sentences.
export { ask } from './ask.ts';
export { chatAnswer } from './chat/answer.ts';
export { conditionCount } from './chat/conditions/condition-answer.ts';
export { type Intent, intentOf } from './chat/intent.ts';
export { plainText } from './plain-text.ts';
export type { Question } from './question.ts';
export { QUESTIONS } from './questions/index.ts';
export { receiptOf } from './receipt.ts';
export { type LeftOut, shortText } from './shorten.ts';
