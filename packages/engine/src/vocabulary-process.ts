// The process of a vocabulary: reads and writes tokens for its parent. What a stranger's file does in here ends only this.
import path from 'node:path';
import { getLlama, LlamaLogLevel } from 'node-llama-cpp';
import { EngineError } from './engine.ts';
import { defaultContext, LlamaVocabulary } from './llama-vocabulary.ts';
import type { Call } from './process-messages.ts';
import { serveParent } from './serve-parent.ts';

const { file, contextLength } = JSON.parse(process.argv[2] ?? '{}') as { file: string; contextLength?: number };

await serveParent(async () => {
  const vocabulary = await load();
  return { info: undefined, serve: (call) => serve(vocabulary, call) };
});

async function load(): Promise<LlamaVocabulary> {
  try {
    const llama = await getLlama({
      gpu: false,
      build: 'never',
      skipDownload: true,
      logLevel: LlamaLogLevel.error,
      maxThreads: 1,
    });
    const model = await llama.loadModel({ modelPath: file, vocabOnly: true });
    const { metadata } = model.fileInfo;
    const trained = metadata[metadata.general.architecture]?.context_length ?? 0;
    return new LlamaVocabulary(model, contextLength ?? defaultContext(trained));
  } catch (cause) {
    throw new EngineError('model-unusable', `the vocabulary ${path.basename(file)} cannot be loaded`, { cause });
  }
}

function serve(vocabulary: LlamaVocabulary, call: Call): unknown {
  switch (call.kind) {
    case 'tokenize':
      return vocabulary.tokenize(call.text, call.hasControl);
    case 'detokenize':
      return vocabulary.detokenize(call.tokens);
    case 'render':
      return vocabulary.render(call.prompt);
    default:
      throw new EngineError('model-unusable', 'a vocabulary has no weights');
  }
}
