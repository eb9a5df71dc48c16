%% The steps of benchmarks/fixes with brod.
%% CONFIGURATION: group_instance_id=null; list_groups (the step group lists the groups of the broker, too).
-module(brod_client_steps).
-export([main/0]).
-export([init/2, handle_message/2]). % of the group's subscriber

-define(CLIENT, steps).

main() ->
    {ok, _} = application:ensure_all_started(brod),
    process_flag(trap_exit, true),
    case report("connect", fun connect/0) of
        true ->
            report("produce", fun produce/0),
            report("consume", fun consume/0),
            report("group", fun group/0) andalso report("commit", fun committed/0),
            case erlang:function_exported(brod, transaction, 3) of
                true -> report("txn", fun transactions/0);
                false -> say("txn", "n/a")
            end;
        false -> ok
    end,
    erlang:halt(0).

report(Step, Work) ->
    %% In a process of its own: what is linked to a step that failed ends with it.
    {Pid, Ref} = spawn_monitor(Work),
    Outcome =
        receive
            {'DOWN', Ref, process, Pid, normal} -> "ok";
            {'DOWN', Ref, process, Pid, Reason} -> lists:flatten(io_lib:format("~0p", [reason(Reason)]))
        after 60000 -> "no answer in 60 s"
        end,
    say(Step, Outcome),
    Outcome =:= "ok".

reason({{badmatch, {error, Reason}}, _Stack}) -> reason(Reason);
reason({nocatch, Reason}) -> reason(Reason);
reason({failed_to_connect, [{_Endpoint, Reason} | _]}) -> reason(Reason);
reason({Reason, [{_, _, _, _} | _]}) -> reason(Reason);
reason(Reason) -> Reason.

say(Step, Outcome) ->
    Escaped = [case C of $" -> "\\\""; $\\ -> "\\\\"; $\n -> " "; _ -> C end || C <- Outcome],
    io:format("{\"step\": \"~s\", \"outcome\": \"~s\"}~n", [Step, Escaped]).

env(Name) -> os:getenv(Name, "").
topic() -> list_to_binary(env("TOPIC")).
group_id() -> list_to_binary(env("GROUP")).
configured(What) -> lists:member(What, string:lexemes(env("CONFIGURATION"), " ")).

endpoints() ->
    [Host, Port] = string:split(env("BOOTSTRAP"), ":"),
    [{Host, list_to_integer(Port)}].

login() ->
    Of = fun(Mechanism) -> [{sasl, {Mechanism, list_to_binary(env("USERNAME")), list_to_binary(env("PASSWORD"))}}] end,
    case env("MECHANISM") of
        "" -> [];
        "PLAIN" -> Of(plain);
        "SCRAM-SHA-256" -> Of(scram_sha_256);
        "SCRAM-SHA-512" -> Of(scram_sha_512)
    end.

connect() ->
    {ok, _} = brod:get_metadata(endpoints(), all, login()),
    start_client().

start_client() -> ok = brod:start_client(endpoints(), ?CLIENT, login()).

%% The broker makes the topic when it is first asked for. A client keeps for two minutes that there was none, so that
%% another one asks again.
produce() -> produce(20).
produce(Attempts) ->
    case brod:start_producer(?CLIENT, topic(), [{compression, gzip}]) of
        ok -> ok = brod:produce_sync(?CLIENT, topic(), 0, <<>>, <<"record">>);
        {error, _} when Attempts > 0 ->
            ok = brod:stop_client(?CLIENT),
            timer:sleep(500),
            start_client(),
            produce(Attempts - 1);
        {error, Reason} -> exit(Reason)
    end.

consume() ->
    {ok, Offset} = brod:resolve_offset(endpoints(), topic(), 0, earliest, login()),
    {ok, {_, [_ | _]}} = brod:fetch({endpoints(), login()}, topic(), 0, Offset).

group() ->
    process_flag(trap_exit, true), % the subscriber's end is a message
    Static = [{group_instance_id, null} || configured("group_instance_id=null")],
    {ok, Subscriber} = brod:start_link_group_subscriber_v2(#{
        client => ?CLIENT,
        group_id => group_id(),
        topics => [topic()],
        cb_module => ?MODULE,
        init_data => self(),
        message_type => message,
        consumer_config => [{begin_offset, earliest}],
        group_config => [{offset_commit_interval_seconds, 1} | Static]
    }),
    receive
        read -> ok;
        {'EXIT', Subscriber, Reason} -> exit(Reason)
    after 50000 -> exit("no record in 50 s")
    end,
    timer:sleep(2500), % it commits once a second
    [{ok, _} = Listed || configured("list_groups"), Listed <- [brod:list_groups(hd(endpoints()), login())]],
    ok = brod_group_subscriber_v2:stop(Subscriber).

init(_, Reader) -> {ok, Reader}.
handle_message(_, Reader) ->
    Reader ! read,
    {ok, commit, Reader}.

committed() ->
    {ok, [Topic]} = brod:fetch_committed_offsets(endpoints(), login(), group_id()),
    %% Since kafka_protocol 2.3 `partitions`; before, `partition_responses`.
    [Partition] = [Found || Name <- [partitions, partition_responses], #{Name := [Found]} <- [Topic]],
    [1] = [Offset || Name <- [committed_offset, offset], #{Name := Offset} <- [Partition]].

transactions() -> [transaction() || _ <- [1, 2]].
transaction() ->
    {ok, Transaction} = brod:transaction(?CLIENT, <<(group_id())/binary, "-txn">>, []),
    {ok, _} = brod:txn_produce(Transaction, topic(), 0, <<>>, <<"record">>),
    ok = brod:commit(Transaction).
