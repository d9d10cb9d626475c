// The schemas that read requests, by the names that the description of the API gives them.
import { chatFields, completionFields, embeddingFields } from './fields.ts';
import { responseFields } from './responses-request.ts';

export const requestSchemas = {
  ChatCompletionRequest: chatFields,
  CompletionRequest: completionFields,
  ResponseRequest: responseFields,
  EmbeddingRequest: embeddingFields,
} as const;
