from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ClientConnection(_message.Message):
    __slots__ = ("client_id", "principal", "client_address", "client_port", "listener_name", "security_protocol", "connection_id", "client_software_name", "client_software_version", "sent_software_name", "sent_software_version", "api_versions_error", "sasl_mechanism")
    CLIENT_ID_FIELD_NUMBER: _ClassVar[int]
    PRINCIPAL_FIELD_NUMBER: _ClassVar[int]
    CLIENT_ADDRESS_FIELD_NUMBER: _ClassVar[int]
    CLIENT_PORT_FIELD_NUMBER: _ClassVar[int]
    LISTENER_NAME_FIELD_NUMBER: _ClassVar[int]
    SECURITY_PROTOCOL_FIELD_NUMBER: _ClassVar[int]
    CONNECTION_ID_FIELD_NUMBER: _ClassVar[int]
    CLIENT_SOFTWARE_NAME_FIELD_NUMBER: _ClassVar[int]
    CLIENT_SOFTWARE_VERSION_FIELD_NUMBER: _ClassVar[int]
    SENT_SOFTWARE_NAME_FIELD_NUMBER: _ClassVar[int]
    SENT_SOFTWARE_VERSION_FIELD_NUMBER: _ClassVar[int]
    API_VERSIONS_ERROR_FIELD_NUMBER: _ClassVar[int]
    SASL_MECHANISM_FIELD_NUMBER: _ClassVar[int]
    client_id: str
    principal: str
    client_address: str
    client_port: int
    listener_name: str
    security_protocol: str
    connection_id: str
    client_software_name: str
    client_software_version: str
    sent_software_name: str
    sent_software_version: str
    api_versions_error: int
    sasl_mechanism: str
    def __init__(self, client_id: _Optional[str] = ..., principal: _Optional[str] = ..., client_address: _Optional[str] = ..., client_port: _Optional[int] = ..., listener_name: _Optional[str] = ..., security_protocol: _Optional[str] = ..., connection_id: _Optional[str] = ..., client_software_name: _Optional[str] = ..., client_software_version: _Optional[str] = ..., sent_software_name: _Optional[str] = ..., sent_software_version: _Optional[str] = ..., api_versions_error: _Optional[int] = ..., sasl_mechanism: _Optional[str] = ...) -> None: ...

class ClientPush(_message.Message):
    __slots__ = ("cluster_id", "broker_id", "incarnation", "sequence", "received_at_nanos", "client", "client_instance_id", "terminating", "content_type", "compression_type", "payload", "payload_crc32c", "push_interval_ms", "subscription_id", "error_code")
    CLUSTER_ID_FIELD_NUMBER: _ClassVar[int]
    BROKER_ID_FIELD_NUMBER: _ClassVar[int]
    INCARNATION_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    RECEIVED_AT_NANOS_FIELD_NUMBER: _ClassVar[int]
    CLIENT_FIELD_NUMBER: _ClassVar[int]
    CLIENT_INSTANCE_ID_FIELD_NUMBER: _ClassVar[int]
    TERMINATING_FIELD_NUMBER: _ClassVar[int]
    CONTENT_TYPE_FIELD_NUMBER: _ClassVar[int]
    COMPRESSION_TYPE_FIELD_NUMBER: _ClassVar[int]
    PAYLOAD_FIELD_NUMBER: _ClassVar[int]
    PAYLOAD_CRC32C_FIELD_NUMBER: _ClassVar[int]
    PUSH_INTERVAL_MS_FIELD_NUMBER: _ClassVar[int]
    SUBSCRIPTION_ID_FIELD_NUMBER: _ClassVar[int]
    ERROR_CODE_FIELD_NUMBER: _ClassVar[int]
    cluster_id: str
    broker_id: int
    incarnation: bytes
    sequence: int
    received_at_nanos: int
    client: ClientConnection
    client_instance_id: bytes
    terminating: bool
    content_type: str
    compression_type: int
    payload: bytes
    payload_crc32c: int
    push_interval_ms: int
    subscription_id: int
    error_code: int
    def __init__(self, cluster_id: _Optional[str] = ..., broker_id: _Optional[int] = ..., incarnation: _Optional[bytes] = ..., sequence: _Optional[int] = ..., received_at_nanos: _Optional[int] = ..., client: _Optional[_Union[ClientConnection, _Mapping]] = ..., client_instance_id: _Optional[bytes] = ..., terminating: _Optional[bool] = ..., content_type: _Optional[str] = ..., compression_type: _Optional[int] = ..., payload: _Optional[bytes] = ..., payload_crc32c: _Optional[int] = ..., push_interval_ms: _Optional[int] = ..., subscription_id: _Optional[int] = ..., error_code: _Optional[int] = ...) -> None: ...

class ApiUse(_message.Message):
    __slots__ = ("api_key", "version", "requests", "rejected", "first_request_at_nanos", "last_request_at_nanos")
    API_KEY_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    REQUESTS_FIELD_NUMBER: _ClassVar[int]
    REJECTED_FIELD_NUMBER: _ClassVar[int]
    FIRST_REQUEST_AT_NANOS_FIELD_NUMBER: _ClassVar[int]
    LAST_REQUEST_AT_NANOS_FIELD_NUMBER: _ClassVar[int]
    api_key: int
    version: int
    requests: int
    rejected: int
    first_request_at_nanos: int
    last_request_at_nanos: int
    def __init__(self, api_key: _Optional[int] = ..., version: _Optional[int] = ..., requests: _Optional[int] = ..., rejected: _Optional[int] = ..., first_request_at_nanos: _Optional[int] = ..., last_request_at_nanos: _Optional[int] = ...) -> None: ...

class ApiError(_message.Message):
    __slots__ = ("api_key", "version", "error_code", "requests")
    API_KEY_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    ERROR_CODE_FIELD_NUMBER: _ClassVar[int]
    REQUESTS_FIELD_NUMBER: _ClassVar[int]
    api_key: int
    version: int
    error_code: int
    requests: int
    def __init__(self, api_key: _Optional[int] = ..., version: _Optional[int] = ..., error_code: _Optional[int] = ..., requests: _Optional[int] = ...) -> None: ...

class ConnectionEvent(_message.Message):
    __slots__ = ("cluster_id", "broker_id", "incarnation", "sequence", "observed_at_nanos", "client", "kind", "opened_at_nanos", "last_request_at_nanos", "api_uses", "group_ids", "transactional_ids", "failure_reason", "connections", "cut_fields", "client_instance_ids", "topics", "api_errors")
    class Kind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        KIND_UNSPECIFIED: _ClassVar[ConnectionEvent.Kind]
        OPENED: _ClassVar[ConnectionEvent.Kind]
        ACTIVE: _ClassVar[ConnectionEvent.Kind]
        CLOSED: _ClassVar[ConnectionEvent.Kind]
        AUTHENTICATION_FAILED: _ClassVar[ConnectionEvent.Kind]
        SUMMARY: _ClassVar[ConnectionEvent.Kind]
    KIND_UNSPECIFIED: ConnectionEvent.Kind
    OPENED: ConnectionEvent.Kind
    ACTIVE: ConnectionEvent.Kind
    CLOSED: ConnectionEvent.Kind
    AUTHENTICATION_FAILED: ConnectionEvent.Kind
    SUMMARY: ConnectionEvent.Kind
    CLUSTER_ID_FIELD_NUMBER: _ClassVar[int]
    BROKER_ID_FIELD_NUMBER: _ClassVar[int]
    INCARNATION_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    OBSERVED_AT_NANOS_FIELD_NUMBER: _ClassVar[int]
    CLIENT_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    OPENED_AT_NANOS_FIELD_NUMBER: _ClassVar[int]
    LAST_REQUEST_AT_NANOS_FIELD_NUMBER: _ClassVar[int]
    API_USES_FIELD_NUMBER: _ClassVar[int]
    GROUP_IDS_FIELD_NUMBER: _ClassVar[int]
    TRANSACTIONAL_IDS_FIELD_NUMBER: _ClassVar[int]
    FAILURE_REASON_FIELD_NUMBER: _ClassVar[int]
    CONNECTIONS_FIELD_NUMBER: _ClassVar[int]
    CUT_FIELDS_FIELD_NUMBER: _ClassVar[int]
    CLIENT_INSTANCE_IDS_FIELD_NUMBER: _ClassVar[int]
    TOPICS_FIELD_NUMBER: _ClassVar[int]
    API_ERRORS_FIELD_NUMBER: _ClassVar[int]
    cluster_id: str
    broker_id: int
    incarnation: bytes
    sequence: int
    observed_at_nanos: int
    client: ClientConnection
    kind: ConnectionEvent.Kind
    opened_at_nanos: int
    last_request_at_nanos: int
    api_uses: _containers.RepeatedCompositeFieldContainer[ApiUse]
    group_ids: _containers.RepeatedScalarFieldContainer[str]
    transactional_ids: _containers.RepeatedScalarFieldContainer[str]
    failure_reason: str
    connections: int
    cut_fields: _containers.RepeatedScalarFieldContainer[str]
    client_instance_ids: _containers.RepeatedScalarFieldContainer[bytes]
    topics: _containers.RepeatedScalarFieldContainer[str]
    api_errors: _containers.RepeatedCompositeFieldContainer[ApiError]
    def __init__(self, cluster_id: _Optional[str] = ..., broker_id: _Optional[int] = ..., incarnation: _Optional[bytes] = ..., sequence: _Optional[int] = ..., observed_at_nanos: _Optional[int] = ..., client: _Optional[_Union[ClientConnection, _Mapping]] = ..., kind: _Optional[_Union[ConnectionEvent.Kind, str]] = ..., opened_at_nanos: _Optional[int] = ..., last_request_at_nanos: _Optional[int] = ..., api_uses: _Optional[_Iterable[_Union[ApiUse, _Mapping]]] = ..., group_ids: _Optional[_Iterable[str]] = ..., transactional_ids: _Optional[_Iterable[str]] = ..., failure_reason: _Optional[str] = ..., connections: _Optional[int] = ..., cut_fields: _Optional[_Iterable[str]] = ..., client_instance_ids: _Optional[_Iterable[bytes]] = ..., topics: _Optional[_Iterable[str]] = ..., api_errors: _Optional[_Iterable[_Union[ApiError, _Mapping]]] = ...) -> None: ...
