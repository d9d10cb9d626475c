// The chat: conversations at one side, what is asked and answered in the middle, parameters at the other side.
import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { Loading } from '../ui/states.tsx';
import { answerTo, isRunning, stop, tokensOf } from './answering.ts';
import { Composer } from './composer.tsx';
import { ConversationList } from './conversation-list.tsx';
import {
  type Conversation,
  change,
  find,
  newId,
  type Settings,
  save,
  titleOf,
  useConversations,
} from './conversations.ts';
import { EmptyChat } from './empty-chat.tsx';
import { useNetwork } from './fleet.ts';
import { type InferenceProblem, listModels, type Model } from './inference.ts';
import { useKey } from './key.ts';
import { ModelChoice } from './model-choice.tsx';
import { go } from './place.ts';
import { SettingsPanel } from './settings-panel.tsx';
import { Thread } from './thread.tsx';

/** Those served now, for the reader's key. */
export function useModels() {
  const key = useKey();
  return useQuery<readonly Model[], InferenceProblem>({
    queryKey: ['models', key],
    queryFn: ({ signal }) => listModels(key, signal),
    enabled: key !== undefined,
    refetchInterval: 15_000,
    retry: false,
  });
}

export function ChatView({ conversationId }: { readonly conversationId: string | null }) {
  const conversations = useConversations();
  const conversation = conversations.find(({ id }) => id === conversationId);
  const models = useModels();
  const [text, setText] = useState('');
  // Of a conversation that has not begun.
  const [settings, setSettings] = useState<Settings>(() => conversations[0]?.settings ?? {});
  const [open, setOpen] = useState<'list' | 'settings' | null>(null);
  const field = useRef<HTMLTextAreaElement>(null);
  const own = conversation?.settings ?? settings;
  const model = models.data?.find(({ id }) => id === own.model) ?? models.data?.[0];
  const modelId = own.model ?? model?.id;
  const isAnswering = conversation !== undefined && isRunning(conversation);
  useNetwork({ isWatching: isAnswering });
  const id = conversation?.id;
  // biome-ignore lint/correctness/useExhaustiveDependencies: another conversation is the reason
  useEffect(() => {
    setOpen(null);
    field.current?.focus();
  }, [id]);
  useEffect(() => {
    if (id === undefined || !isAnswering) return;
    const onKey = (event: KeyboardEvent) => {
      if (event.key === 'Escape') stop(id);
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, [id, isAnswering]);

  const changeSettings = (next: Settings) => {
    setSettings(next);
    if (id !== undefined) change(id, (one) => ({ ...one, settings: next }));
  };
  const ask = (words: string, to?: Conversation) => {
    if (modelId === undefined || words.trim() === '') return;
    const asked = withQuestion(to ?? conversation ?? newConversation(own, words), words.trim());
    save(asked);
    if (asked.id !== id) go(`/?chat=${asked.id}`);
    setText('');
    field.current?.focus();
    void answerTo(asked.id, modelId);
  };
  const canSend = modelId !== undefined && !isAnswering && text.trim() !== '';
  const turns = conversation?.turns.slice(conversation.sentFrom) ?? [];
  return (
    <div className="chat-frame">
      <nav className={open === 'list' ? 'chat-side open' : 'chat-side'} aria-label="Conversations" id="chat-list">
        <ConversationList
          openId={id ?? null}
          onNew={() => {
            setOpen(null);
            go('/');
            field.current?.focus();
          }}
        />
      </nav>
      <main id="content" tabIndex={-1} className="chat-main">
        <header className="chat-head">
          <button
            className="button small chat-narrow"
            type="button"
            aria-expanded={open === 'list'}
            aria-controls="chat-list"
            onClick={() => setOpen(open === 'list' ? null : 'list')}
          >
            Conversations
          </button>
          <h1>{conversation?.title ?? 'New conversation'}</h1>
          <ModelChoice
            models={models.data}
            chosen={modelId}
            onChoose={(next) => changeSettings({ ...own, model: next })}
          />
          <button
            className="button small"
            type="button"
            aria-expanded={open === 'settings'}
            aria-controls="chat-settings"
            onClick={() => setOpen(open === 'settings' ? null : 'settings')}
          >
            Parameters
          </button>
        </header>
        {conversation ? (
          <Thread
            conversation={conversation}
            onAsk={(words, before) =>
              ask(words, { ...conversation, turns: before, sentFrom: Math.min(conversation.sentFrom, before.length) })
            }
            onAnswer={(shortened) => {
              save(shortened);
              if (modelId !== undefined) void answerTo(shortened.id, modelId);
            }}
          />
        ) : models.isLoading ? (
          <Loading lines={5} />
        ) : (
          <EmptyChat
            problem={models.error}
            hasModels={(models.data?.length ?? 0) > 0}
            onRetry={() => void models.refetch()}
            onAsk={ask}
          />
        )}
        <Composer
          field={field}
          text={text}
          onText={setText}
          isRunning={isAnswering}
          canSend={canSend}
          onSend={() => ask(text)}
          onStop={() => {
            if (id !== undefined) stop(id);
            field.current?.focus();
          }}
          tokens={tokensOf(turns, text + (turns.length === 0 ? (own.system ?? '') : ''))}
          contextLength={model?.context_length ?? null}
        />
      </main>
      <aside id="chat-settings" className="chat-panel" aria-label="Parameters" hidden={open !== 'settings'}>
        <div className="card-head">
          <h2>Parameters</h2>
          <button className="button small" type="button" onClick={() => setOpen(null)}>
            Close
          </button>
        </div>
        <SettingsPanel settings={own} onChange={changeSettings} />
      </aside>
    </div>
  );
}

function newConversation(settings: Settings, words: string): Conversation {
  return { id: newId(), title: titleOf(words), changedAt: Date.now(), settings, turns: [], sentFrom: 0 };
}

/** What another tab or the answer itself has changed meanwhile counts. */
function withQuestion(to: Conversation, text: string): Conversation {
  const { settings = to.settings, title = to.title } = find(to.id) ?? {};
  return { ...to, settings, title, changedAt: Date.now(), turns: [...to.turns, { role: 'user', id: newId(), text }] };
}
