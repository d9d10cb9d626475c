// The chat: conversations on one side, questions and answers in the middle, parameters on the other side.
import './thread/thread.css';
import { lazy, Suspense, useEffect, useRef, useState } from 'react';
import { Button } from '../ui/controls/button.tsx';
import { Loading } from '../ui/states.tsx';
import { Composer } from './asking/composer.tsx';
import { knowsData } from './asking/data-model.ts';
import { ModelChoice } from './asking/model-choice.tsx';
import type { Settings } from './asking/parameters.ts';
import { tokensOf } from './asking/request.ts';
import { sendActionOf, useWaitingQuestion } from './asking/send-action.ts';
import { modelsState, useModels } from './asking/use-models.ts';
import {
  type Conversation,
  isRunning,
  newConversation,
  newId,
  pathOf,
  sentPart,
  withTurn,
} from './conversation/conversation.ts';
import { ConversationList } from './conversation/conversation-list.tsx';
import { answerRunner, store, useConversations } from './conversation/conversations.ts';
import { useKey } from './inference.ts';
import { go } from './location.ts';
import { useNetwork } from './machines/use-network.ts';
import { EmptyChat } from './thread/empty-chat.tsx';
import { useOnline } from './use-online.ts';

// Loaded on demand: for an existing conversation, and when the parameters are opened.
const Thread = lazy(async () => ({ default: (await import('./thread/thread.tsx')).Thread }));
const SettingsPanel = lazy(async () => ({ default: (await import('./asking/settings-panel.tsx')).SettingsPanel }));

export function ChatView({ conversationId }: { readonly conversationId: string | null }) {
  const conversations = useConversations();
  const conversation = conversations.find(({ id }) => id === conversationId);
  const key = useKey();
  const isOnline = useOnline();
  const models = useModels();
  const [text, setText] = useState('');
  // Settings of a conversation without a first question.
  const [settings, setSettings] = useState<Settings>(() => conversations[0]?.settings ?? {});
  const [open, setOpen] = useState<'list' | 'settings' | null>(null);
  const field = useRef<HTMLTextAreaElement>(null);
  const parametersButton = useRef<HTMLButtonElement>(null);
  const own = conversation?.settings ?? settings;
  const model = models.data?.find(({ id }) => id === own.model) ?? models.data?.[0];
  const modelId = own.model ?? model?.id;
  const isAnswering = conversation !== undefined && isRunning(conversation);
  useNetwork({ isWatching: isAnswering });
  const id = conversation?.id;

  const changeSettings = (next: Settings) => {
    setSettings(next);
    if (id !== undefined) store.change(id, (one) => ({ ...one, settings: next, setAt: Date.now() }));
  };
  /** Requests the answer and moves the focus to the question field. */
  const answer = (to: string) => {
    if (modelId === undefined) return;
    void answerRunner.run(to, modelId);
    field.current?.focus();
  };
  const ask = (question: string, after: Conversation = conversation ?? newConversation(own, question, Date.now())) => {
    if (modelId === undefined || question.trim() === '') return;
    const at = Date.now();
    const turn = { role: 'user' as const, id: newId(), parent: after.head, at, text: question.trim() };
    if (store.find(after.id)) store.change(after.id, (one) => withTurn(one, turn, at));
    else store.add(withTurn(after, turn, at));
    if (after.id !== id) go(`/?chat=${after.id}`);
    answer(after.id);
  };
  const sendAction = sendActionOf({
    text,
    isOnline,
    hasKey: key !== undefined,
    models: modelsState(models),
    isAnswering,
  });
  const waiting = useWaitingQuestion(sendAction, () => {
    ask(text);
    setText('');
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs when another conversation is shown
  useEffect(() => {
    setOpen(null);
    waiting.cancel();
    field.current?.focus();
  }, [id]);
  // The key form closes when it receives a key, and the focus is lost with it.
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs when the key changes
  useEffect(() => {
    if (document.activeElement === document.body) field.current?.focus();
  }, [key]);
  useStopKey(isAnswering ? id : undefined);
  const path = conversation ? sentPart(pathOf(conversation), conversation.sentFrom) : [];
  return (
    <div className="chat-frame">
      <nav
        className={`chat-side screen-only ${open === 'list' ? 'open' : ''}`}
        aria-label="Conversations"
        id="chat-list"
      >
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
          <span className="chat-narrow">
            <Button
              kind="small"
              aria-expanded={open === 'list'}
              aria-controls="chat-list"
              onClick={() => setOpen(open === 'list' ? null : 'list')}
            >
              Conversations
            </Button>
          </span>
          <h1 className="ellipsis">{conversation?.title ?? 'New conversation'}</h1>
          <ModelChoice
            models={models.data}
            chosen={modelId}
            onChoose={(next) => changeSettings({ ...own, model: next })}
          />
          <button
            ref={parametersButton}
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
          <Suspense fallback={<Loading />}>
            <Thread conversation={conversation} onAsk={ask} onAnswer={answer} />
          </Suspense>
        ) : models.isLoading ? (
          <Loading />
        ) : (
          <EmptyChat
            problem={models.error}
            hasModels={(models.data?.length ?? 0) > 0}
            knowsData={knowsData(model, models.data ?? [])}
            onRetry={() => void models.refetch()}
            onAsk={ask}
          />
        )}
        <Composer
          field={field}
          text={text}
          onText={(next) => {
            waiting.cancel();
            setText(next);
          }}
          isRunning={isAnswering}
          canSend={sendAction !== 'nothing' && sendAction !== 'answer'}
          waiting={waiting.message}
          onSend={waiting.send}
          onStop={() => {
            if (id !== undefined) answerRunner.stop(id);
            field.current?.focus();
          }}
          tokens={tokensOf(path, text + (path.length === 0 ? (own.system ?? '') : ''))}
          contextLength={model?.context_length ?? null}
        />
      </main>
      <aside id="chat-settings" className="chat-panel screen-only" aria-label="Parameters" hidden={open !== 'settings'}>
        <div className="card-head">
          <h2>Parameters</h2>
          <Button
            kind="small"
            onClick={() => {
              setOpen(null);
              parametersButton.current?.focus();
            }}
          >
            Close
          </Button>
        </div>
        {open === 'settings' && (
          <Suspense fallback={<Loading />}>
            <SettingsPanel key={id} settings={own} onChange={changeSettings} />
          </Suspense>
        )}
      </aside>
    </div>
  );
}

/** Escape stops the answer, unless it closes an open dialog or field. */
function useStopKey(conversationId: string | undefined): void {
  useEffect(() => {
    if (conversationId === undefined) return;
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== 'Escape' || event.defaultPrevented || document.querySelector('dialog[open]')) return;
      answerRunner.stop(conversationId);
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, [conversationId]);
}
