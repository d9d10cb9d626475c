// Generated from openapi/gateway.json by write-types.ts: `npm run openapi` rewrites it. Do not edit.

/**
 * Each GET path: its path and query parameters, and the body of its answer.
 */
export interface GatewayPaths {
  /**
   * Get a stored chat completion of this key, when it is over
   */
  '/v1/chat/completions/{id}': {
    path: {
      id: string;
    };
    query: Record<string, never>;
    body: ChatCompletion;
  };
  /**
   * Get a stored response of this key
   */
  '/v1/responses/{id}': {
    path: {
      id: string;
    };
    query: {
      /**
       * The events of the response, as they are generated.
       */
      stream?: 'true' | 'false';
      /**
       * Only events with larger `sequence_number`s.
       */
      starting_after?: number;
    };
    body: Response;
  };
  /**
   * List the models
   */
  '/v1/models': {
    path: Record<string, never>;
    query: Record<string, never>;
    body: {
      object: 'list';
      data: Model[];
    };
  };
  /**
   * Get a model
   */
  '/v1/models/{id}': {
    path: {
      id: string;
    };
    query: Record<string, never>;
    body: Model;
  };
  /**
   * Get the receipt of an answer of this key
   */
  '/v1/receipts/{id}': {
    path: {
      id: string;
    };
    query: Record<string, never>;
    body: Receipt;
  };
  /**
   * List keys, newest first
   */
  '/admin/keys': {
    path: Record<string, never>;
    query: {
      limit?: number;
      cursor?: string;
      team?: string;
    };
    body: AdminKeyPage;
  };
  /**
   * Get a key
   */
  '/admin/keys/{id}': {
    path: {
      id: string;
    };
    query: Record<string, never>;
    body: AdminKey;
  };
  /**
   * List teams
   */
  '/admin/teams': {
    path: Record<string, never>;
    query: Record<string, never>;
    body: {
      object: 'list';
      data: Team[];
    };
  };
  /**
   * List prices
   */
  '/admin/prices': {
    path: Record<string, never>;
    query: Record<string, never>;
    body: {
      object: 'list';
      data: Price[];
    };
  };
  /**
   * Requests, tokens and spending by day, key and model, newest first
   */
  '/admin/usage': {
    path: Record<string, never>;
    query: {
      /**
       * UTC day; 29 days before today if absent.
       */
      since?: string;
      /**
       * The last day.
       */
      until?: string;
      key?: string;
      team?: string;
      model?: string;
      /**
       * One row per day and key, team or model.
       */
      by?: 'key' | 'team' | 'model';
    };
    body: UsageReport;
  };
  /**
   * The same as CSV, at most 100,000 rows
   */
  '/admin/usage.csv': {
    path: Record<string, never>;
    query: {
      /**
       * UTC day; 29 days before today if absent.
       */
      since?: string;
      /**
       * The last day.
       */
      until?: string;
      key?: string;
      team?: string;
      model?: string;
      /**
       * One row per day and key, team or model.
       */
      by?: 'key' | 'team' | 'model';
    };
    body: string;
  };
  /**
   * What was changed by whom, newest first
   */
  '/admin/audit': {
    path: Record<string, never>;
    query: {
      limit?: number;
      cursor?: number;
    };
    body: AuditPage;
  };
  /**
   * Peers, models, load and reputation in the network
   */
  '/network': {
    path: Record<string, never>;
    query: Record<string, never>;
    body: Network;
  };
}
export interface ChatCompletionRequest {
  model: string;
  stream?: boolean | null;
  stream_options?: {
    include_usage?: boolean | null;
  } | null;
  max_tokens?: number | null;
  temperature?: number | null;
  top_p?: number | null;
  n?: number | null;
  stop?: (string | string[]) | null;
  seed?: number | null;
  presence_penalty?: number | null;
  frequency_penalty?: number | null;
  logit_bias?: {
    [k: string]: number;
  } | null;
  user?: string | null;
  store?: boolean | null;
  top_k?: number | null;
  min_p?: number | null;
  prompt_cache_key?: string | null;
  messages: (
    | {
        role: 'system' | 'developer' | 'user';
        content:
          | string
          | (
              | {
                  type: 'text';
                  text: string;
                }
              | {
                  type: 'refusal';
                  refusal: string;
                }
              | {
                  type: string;
                }
            )[];
        name?: string | null;
      }
    | {
        role: 'assistant';
        content?:
          | (
              | string
              | (
                  | {
                      type: 'text';
                      text: string;
                    }
                  | {
                      type: 'refusal';
                      refusal: string;
                    }
                  | {
                      type: string;
                    }
                )[]
            )
          | null;
        refusal?: string | null;
        name?: string | null;
        reasoning_content?: string | null;
        reasoning?: string | null;
        tool_calls?:
          | {
              id?: string | null;
              type?: 'function';
              function: {
                name: string;
                arguments: string;
              };
            }[]
          | null;
      }
    | {
        role: 'tool';
        content:
          | string
          | (
              | {
                  type: 'text';
                  text: string;
                }
              | {
                  type: 'refusal';
                  refusal: string;
                }
              | {
                  type: string;
                }
            )[];
        tool_call_id: string;
        name?: string | null;
      }
    | {
        role: 'function';
        content?:
          | (
              | string
              | (
                  | {
                      type: 'text';
                      text: string;
                    }
                  | {
                      type: 'refusal';
                      refusal: string;
                    }
                  | {
                      type: string;
                    }
                )[]
            )
          | null;
        name: string;
      }
  )[];
  max_completion_tokens?: number | null;
  logprobs?: boolean | null;
  top_logprobs?: number | null;
  response_format?:
    | (
        | {
            type: 'text';
          }
        | {
            type: 'json_object';
            schema?: {
              [k: string]: unknown;
            } | null;
          }
        | {
            type: 'json_schema';
            json_schema: {
              name: string;
              description?: string | null;
              schema?: {
                [k: string]: unknown;
              } | null;
              strict?: boolean | null;
            };
          }
      )
    | null;
  tools?:
    | {
        type: 'function';
        function: {
          name: string;
          description?: string | null;
          parameters?: {
            [k: string]: unknown;
          } | null;
          return?: {
            [k: string]: unknown;
          } | null;
          strict?: boolean | null;
        };
      }[]
    | null;
  tool_choice?:
    | (
        | ('none' | 'auto' | 'required')
        | {
            type: 'function';
            function: {
              name: string;
            };
          }
        | {
            type: 'allowed_tools';
            allowed_tools: {
              mode: 'auto' | 'required';
              tools: {
                type: 'function';
                function: {
                  name: string;
                };
              }[];
            };
          }
      )
    | null;
  parallel_tool_calls?: boolean | null;
  metadata?: {
    [k: string]: unknown;
  } | null;
  reasoning_effort?: ('none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max') | null;
  chat_template_kwargs?: {
    [k: string]:
      | (string | number | boolean | null)
      | (
          | (string | number | boolean | null)
          | (string | number | boolean | null)[]
          | {
              [k: string]: string | number | boolean | null;
            }
        )[]
      | {
          [k: string]:
            | (string | number | boolean | null)
            | (string | number | boolean | null)[]
            | {
                [k: string]: string | number | boolean | null;
              };
        };
  } | null;
  add_generation_prompt?: boolean | null;
  reasoning_format?: ('auto' | 'deepseek' | 'none') | null;
  modalities?: string[] | null;
  audio?: unknown;
  functions?: unknown;
  function_call?: unknown;
}
export interface CompletionRequest {
  model: string;
  stream?: boolean | null;
  stream_options?: {
    include_usage?: boolean | null;
  } | null;
  max_tokens?: number | null;
  temperature?: number | null;
  top_p?: number | null;
  n?: number | null;
  stop?: (string | string[]) | null;
  seed?: number | null;
  presence_penalty?: number | null;
  frequency_penalty?: number | null;
  logit_bias?: {
    [k: string]: number;
  } | null;
  user?: string | null;
  store?: boolean | null;
  top_k?: number | null;
  min_p?: number | null;
  prompt_cache_key?: string | null;
  prompt: string | string[] | number[] | number[][];
  echo?: boolean | null;
  suffix?: string | null;
  best_of?: number | null;
  logprobs?: number | null;
}
export interface ResponseRequest {
  model: string;
  input:
    | string
    | {
        type?: string | null;
        id?: string | null;
        role?: string | null;
        content?:
          | (
              | string
              | {
                  type: string;
                  text?: string | null;
                  refusal?: string | null;
                }[]
            )
          | null;
        call_id?: string | null;
        name?: string | null;
        arguments?: string | null;
        output?:
          | (
              | string
              | {
                  type: string;
                  text?: string | null;
                  refusal?: string | null;
                }[]
            )
          | null;
        summary?:
          | {
              type: string;
              text?: string | null;
              refusal?: string | null;
            }[]
          | null;
        encrypted_content?: string | null;
      }[];
  instructions?: string | null;
  stream?: boolean | null;
  max_output_tokens?: unknown;
  temperature?: unknown;
  top_p?: unknown;
  tools?:
    | {
        type: string;
        [k: string]: unknown;
      }[]
    | null;
  tool_choice?: unknown;
  parallel_tool_calls?: unknown;
  text?: {
    format?: {
      type: string;
      [k: string]: unknown;
    } | null;
  } | null;
  previous_response_id?: unknown;
  conversation?: unknown;
  background?: boolean | null;
  metadata?: {
    [k: string]: unknown;
  } | null;
  reasoning?: {
    effort?: unknown;
    summary?: ('auto' | 'concise' | 'detailed') | null;
    [k: string]: unknown;
  } | null;
  chat_template_kwargs?: unknown;
  prompt_cache_key?: unknown;
  user?: unknown;
  store?: boolean | null;
}
export interface EmbeddingRequest {
  model: string;
  input: string | string[] | number[] | number[][];
  encoding_format?: ('float' | 'base64') | null;
  dimensions?: number | null;
  user?: string | null;
}
export interface NewAdminKey {
  label?: string;
  tier?: 'free' | 'standard' | 'unlimited';
  priority?: 'low' | 'normal' | 'high';
  /**
   * A key stays in its team.
   */
  team?: string | null;
  expires_at?: string | null;
  models?: string[] | null;
  tokens_per_day?: number | null;
  spend_limit?: {
    micros: number;
    period: 'day' | 'month' | 'total';
    /**
     * Micros; reaching them is logged as `budget.warning`.
     */
    warning?: number;
  } | null;
}
export interface AdminKeyChange {
  label?: string | null;
  tier?: 'free' | 'standard' | 'unlimited';
  priority?: 'low' | 'normal' | 'high';
  expires_at?: string | null;
  models?: string[] | null;
  tokens_per_day?: number | null;
  spend_limit?: {
    micros: number;
    period: 'day' | 'month' | 'total';
    /**
     * Micros; reaching them is logged as `budget.warning`.
     */
    warning?: number;
  } | null;
}
export interface KeyRotation {
  /**
   * How long the secret before stays valid.
   */
  overlap_seconds?: number;
}
export interface TeamLimits {
  models?: string[] | null;
  tokens_per_day?: number | null;
  spend_limit?: {
    micros: number;
    period: 'day' | 'month' | 'total';
    /**
     * Micros; reaching them is logged as `budget.warning`.
     */
    warning?: number;
  } | null;
}
/**
 * Of a million tokens, in millionths of the operator's currency; cached as input if absent.
 */
export interface ModelPrice {
  input_micros: number;
  output_micros: number;
  cached_micros?: number;
}
export interface ChatCompletion {
  id: string;
  created: number;
  model: string;
  system_fingerprint: string;
  object: 'chat.completion';
  choices: {
    index: number;
    message: {
      role: 'assistant';
      content: string | null;
      /**
       * What the model thought before it answered; absent without reasoning.
       */
      reasoning_content?: string;
      /**
       * What the model thought before it answered; absent without reasoning.
       */
      reasoning?: string;
      refusal: null;
      tool_calls?: {
        id: string;
        type: 'function';
        function: {
          name: string;
          arguments: string;
        };
      }[];
    };
    logprobs: {
      content: {
        token: string;
        logprob: number;
        bytes: number[];
        top_logprobs: {
          [k: string]: unknown;
        }[];
        [k: string]: unknown;
      }[];
      [k: string]: unknown;
    } | null;
    finish_reason: 'stop' | 'length' | 'tool_calls' | 'content_filter';
  }[];
  usage: {
    prompt_tokens: number;
    completion_tokens: number;
    total_tokens: number;
    completion_tokens_details?: {
      reasoning_tokens: number;
      [k: string]: unknown;
    };
    [k: string]: unknown;
  };
}
export interface ChatCompletionChunk {
  id: string;
  created: number;
  model: string;
  system_fingerprint: string;
  object: 'chat.completion.chunk';
  choices: {
    index: number;
    delta: {
      role?: 'assistant';
      content?: string | null;
      /**
       * What the model thought before it answered; absent without reasoning.
       */
      reasoning_content?: string;
      /**
       * What the model thought before it answered; absent without reasoning.
       */
      reasoning?: string;
      refusal?: null;
      tool_calls?: {
        index: number;
        id?: string;
        type?: 'function';
        function: {
          name?: string;
          arguments: string;
        };
      }[];
      [k: string]: unknown;
    };
    logprobs: {
      content: {
        token: string;
        logprob: number;
        bytes: number[];
        top_logprobs: {
          [k: string]: unknown;
        }[];
        [k: string]: unknown;
      }[];
      [k: string]: unknown;
    } | null;
    finish_reason: ('stop' | 'length' | 'tool_calls' | 'content_filter') | null;
  }[];
  usage?: {
    prompt_tokens: number;
    completion_tokens: number;
    total_tokens: number;
    completion_tokens_details?: {
      reasoning_tokens: number;
      [k: string]: unknown;
    };
    [k: string]: unknown;
  } | null;
}
export interface Completion {
  id: string;
  created: number;
  model: string;
  system_fingerprint: string;
  object: 'text_completion';
  choices: {
    index: number;
    text: string;
    logprobs: {
      [k: string]: unknown;
    } | null;
    finish_reason: ('stop' | 'length' | 'tool_calls' | 'content_filter') | null;
  }[];
  usage?: {
    prompt_tokens: number;
    completion_tokens: number;
    total_tokens: number;
    completion_tokens_details?: {
      reasoning_tokens: number;
      [k: string]: unknown;
    };
    [k: string]: unknown;
  };
}
export interface Response {
  id: string;
  object: 'response';
  created_at: number;
  status: 'queued' | 'in_progress' | 'completed' | 'incomplete' | 'failed' | 'cancelled';
  model: string;
  output: {
    id: string;
    type: 'message' | 'reasoning' | 'function_call';
    [k: string]: unknown;
  }[];
  usage: {
    input_tokens: number;
    output_tokens: number;
    total_tokens: number;
    [k: string]: unknown;
  } | null;
  [k: string]: unknown;
}
export interface DeletedChatCompletion {
  id: string;
  object: 'chat.completion.deleted';
  deleted: true;
}
export interface DeletedResponse {
  id: string;
  object: 'response';
  deleted: true;
}
export interface Embeddings {
  object: 'list';
  data: {
    object: 'embedding';
    index: number;
    embedding: number[] | string;
  }[];
  model: string;
  usage: {
    prompt_tokens: number;
    total_tokens: number;
  };
}
export interface Model {
  id: string;
  object: 'model';
  created: number;
  owned_by: string;
  name: string;
  engine: string;
  sha256: string | null;
  size_bytes: number | null;
  parameters: number | null;
  quantisation: string | null;
  context_length: number | null;
  slots: number;
  /**
   * False: the next request loads it first. Null: an upstream decides.
   */
  loaded: boolean | null;
  /**
   * Why it answers no requests at present; null: it does.
   */
  unavailable: string | null;
  /**
   * How far it is proved which model answers: the weakest of all that may answer.
   */
  verified: {
    level: 'claimed' | 'audited' | 'pinned';
    reason: string;
  };
}
export interface Receipt {
  object: 'inference.receipt';
  answer_id: string;
  request_id: string;
  key_id: string;
  endpoint: string;
  model: {
    id: string;
    sha256: string | null;
    engine: string;
    /**
     * Of those that answered; earlier receipts have none.
     */
    verified?: {
      level: 'claimed' | 'audited' | 'pinned';
      reason: string;
    };
  };
  /**
   * HMAC-SHA-256 of the request body, with `x-receipt-salt` as the key.
   */
  request_hmac_sha256?: string;
  /**
   * HMAC-SHA-256 of the content of the answer, with the same key.
   */
  answer_hmac_sha256?: string;
  /**
   * Plain SHA-256, in earlier receipts without a salt.
   */
  request_sha256?: string;
  answer_sha256?: string;
  /**
   * `interrupted`: the gateway was killed; the usage is that of the prompt, and the content is unknown.
   */
  outcome: 'completed' | 'cancelled' | 'failed' | 'interrupted';
  finish_reasons: (('stop' | 'length' | 'tool_calls' | 'content_filter') | null)[];
  usage: {
    prompt_tokens: number;
    cached_tokens: number;
    completion_tokens: number;
  };
  /**
   * Of an answer with a price, or of a key with limits of its own or a team.
   */
  charge?: {
    /**
     * Millionths of the operator's currency.
     */
    spend_micros: number;
    /**
     * The limits of the key and its team that it counts in.
     */
    accounts: string[];
  };
  times: {
    received_at: string;
    first_token_at: string | null;
    finished_at: string;
  };
  segments?: {
    choice: number;
    worker: string;
    nonce: string;
    from: number;
    to: number;
    chain_head_hmac_sha256?: string;
    /**
     * Only in earlier receipts without a salt.
     */
    chain_head?: string;
  }[];
  /**
   * For a name that several targets answer.
   */
  answered_by?: {
    /**
     * Null: the gateway itself, or a worker.
     */
    upstream: string | null;
    /**
     * Its name there.
     */
    model: string;
  }[];
  provenance: {
    receipt_id: string;
    signature: string;
    key_id: string;
    [k: string]: unknown;
  };
}
export interface NewKey {
  /**
   * Returned only once. Send it as `Authorization: Bearer sk-…`.
   */
  key: string;
  key_id: string;
  tier: string;
  /**
   * Requests per UTC day.
   */
  daily_limit: number | null;
  requests_per_minute: number;
  tokens_per_minute: number;
  tokens_per_day: number;
}
export interface Network {
  object: 'network';
  self: {
    peer: string;
    software: string;
  };
  gateways: {
    peer: string;
    self: boolean;
    connected: boolean;
    state: 'running' | 'silent';
  }[];
  peers: {
    peer: string;
    role: 'worker' | 'other';
    connected_since: string | null;
    round_trip_ms: number | null;
    software: string | null;
    models: {
      name: string;
      sha256: string;
      quantisation: string;
      context_length: number;
      slots: number;
      loaded: boolean;
      prefill_tokens_per_second: number;
      decode_tokens_per_second: number;
      loading: boolean;
      memory_bytes: number | null;
      verified: {
        level: 'claimed' | 'audited' | 'pinned';
        reason: string;
      };
    }[];
    running: number;
    waiting: number;
    memory: {
      budget_bytes: number;
      held_bytes: number;
    } | null;
    standing: {
      state: string;
      trust: number;
      audits: number;
    } | null;
  }[];
  models: {
    id: string;
    name: string;
    sha256: string;
    workers: number;
    loaded: number;
    loading: number;
    slots: number;
    running: number;
    waiting: number;
    verified: {
      level: 'claimed' | 'audited' | 'pinned';
      reason: string;
    };
  }[];
  audits: {
    at: string;
    kind: 'answer' | 'challenge';
    worker: string;
    outcome: string;
  }[];
  totals: {
    peers: number;
    workers: number;
    models: number;
    slots: number;
    running: number;
    waiting: number;
  };
}
export interface Error {
  error: {
    message: string;
    type: string;
    param: string | null;
    code: string | null;
  };
}
export interface AdminKey {
  id: string;
  label: string | null;
  tier: 'free' | 'standard' | 'unlimited';
  priority: 'low' | 'normal' | 'high';
  is_admin: boolean;
  team: string | null;
  expires_at: string | null;
  models: string[] | null;
  tokens_per_day: number | null;
  spend_limit: {
    micros: number;
    period: 'day' | 'month' | 'total';
    /**
     * Micros; reaching them is logged as `budget.warning`.
     */
    warning?: number;
  } | null;
  created_at: string;
  revoked_at: string | null;
}
export interface AdminKeyPage {
  object: 'list';
  next_cursor: string | null;
  data: {
    id: string;
    label: string | null;
    tier: 'free' | 'standard' | 'unlimited';
    priority: 'low' | 'normal' | 'high';
    is_admin: boolean;
    team: string | null;
    expires_at: string | null;
    models: string[] | null;
    tokens_per_day: number | null;
    spend_limit: {
      micros: number;
      period: 'day' | 'month' | 'total';
      /**
       * Micros; reaching them is logged as `budget.warning`.
       */
      warning?: number;
    } | null;
    created_at: string;
    revoked_at: string | null;
  }[];
}
export interface CreatedAdminKey {
  id: string;
  label: string | null;
  tier: 'free' | 'standard' | 'unlimited';
  priority: 'low' | 'normal' | 'high';
  is_admin: boolean;
  team: string | null;
  expires_at: string | null;
  models: string[] | null;
  tokens_per_day: number | null;
  spend_limit: {
    micros: number;
    period: 'day' | 'month' | 'total';
    /**
     * Micros; reaching them is logged as `budget.warning`.
     */
    warning?: number;
  } | null;
  created_at: string;
  revoked_at: string | null;
  /**
   * Returned only once.
   */
  key: string;
}
export interface RevokedKey {
  id: string;
  revoked: true;
}
export interface Team {
  id: string;
  models: string[] | null;
  tokens_per_day: number | null;
  spend_limit: {
    micros: number;
    period: 'day' | 'month' | 'total';
    /**
     * Micros; reaching them is logged as `budget.warning`.
     */
    warning?: number;
  } | null;
  created_at: string;
}
export interface RemovedTeam {
  id: string;
  removed: true;
  revoked_keys: number;
}
export interface Price {
  model: string;
  input_micros: number;
  cached_micros: number;
  output_micros: number;
}
export interface RemovedPrice {
  model: string;
  removed: true;
}
export interface UsageReport {
  object: 'list';
  is_truncated: boolean;
  data: {
    day: string;
    key_id: string | null;
    label: string | null;
    team: string | null;
    model: string | null;
    requests: number;
    prompt_tokens: number;
    cached_tokens: number;
    completion_tokens: number;
    spend_micros: number;
  }[];
}
export interface AuditPage {
  object: 'list';
  next_cursor: string | null;
  data: {
    at: string;
    /**
     * The id of an admin key; or `local`, a process with the database, as the CLI; or `gateway`.
     */
    actor: string;
    action: string;
    target: string;
    before: {
      [k: string]: unknown;
    } | null;
    after: {
      [k: string]: unknown;
    } | null;
  }[];
}
/**
 * Each POST path, and the body of its complete answer.
 */
export interface GatewayPosts {
  /**
   * Answer a conversation
   */
  '/v1/chat/completions': {
    path: Record<string, never>;
    query: Record<string, never>;
    body: ChatCompletion;
  };
  /**
   * Complete a text
   */
  '/v1/completions': {
    path: Record<string, never>;
    query: Record<string, never>;
    body: Completion;
  };
  /**
   * Answer a conversation (Responses API)
   */
  '/v1/responses': {
    path: Record<string, never>;
    query: Record<string, never>;
    body: Response;
  };
  /**
   * Cancel a response in the background
   */
  '/v1/responses/{id}/cancel': {
    path: {
      id: string;
    };
    query: Record<string, never>;
    body: Response;
  };
  /**
   * Compute embeddings
   */
  '/v1/embeddings': {
    path: Record<string, never>;
    query: Record<string, never>;
    body: Embeddings;
  };
  /**
   * Get a free API key
   */
  '/keys': {
    path: Record<string, never>;
    query: Record<string, never>;
    body: NewKey;
  };
  /**
   * Create a key, which is returned once
   */
  '/admin/keys': {
    path: Record<string, never>;
    query: Record<string, never>;
    body: CreatedAdminKey;
  };
  /**
   * Change fields of a key; null removes a limit
   */
  '/admin/keys/{id}': {
    path: {
      id: string;
    };
    query: Record<string, never>;
    body: AdminKey;
  };
  /**
   * Give a key another secret, which is returned once
   */
  '/admin/keys/{id}/rotate': {
    path: {
      id: string;
    };
    query: Record<string, never>;
    body: CreatedAdminKey;
  };
}
/**
 * Each PUT and DELETE, and the body of its complete answer.
 */
export interface GatewayChanges {
  /**
   * Delete a stored chat completion of this key
   */
  'DELETE /v1/chat/completions/{id}': {
    path: {
      id: string;
    };
    query: Record<string, never>;
    body: DeletedChatCompletion;
  };
  /**
   * Delete a stored response of this key
   */
  'DELETE /v1/responses/{id}': {
    path: {
      id: string;
    };
    query: Record<string, never>;
    body: DeletedResponse;
  };
  /**
   * Revoke a key
   */
  'DELETE /admin/keys/{id}': {
    path: {
      id: string;
    };
    query: Record<string, never>;
    body: RevokedKey;
  };
  /**
   * Create a team, or replace its limits
   */
  'PUT /admin/teams/{team}': {
    path: {
      team: string;
    };
    query: Record<string, never>;
    body: Team;
  };
  /**
   * Remove a team without active keys
   */
  'DELETE /admin/teams/{team}': {
    path: {
      team: string;
    };
    query: {
      /**
       * Also revoke its active keys.
       */
      revoke_keys?: boolean;
    };
    body: RemovedTeam;
  };
  /**
   * Set the price of a model or alias; `*`: of all models without a price
   */
  'PUT /admin/prices/{model}': {
    path: {
      model: string;
    };
    query: Record<string, never>;
    body: Price;
  };
  /**
   * Remove the price of a model
   */
  'DELETE /admin/prices/{model}': {
    path: {
      model: string;
    };
    query: Record<string, never>;
    body: RemovedPrice;
  };
}
