package clienttelemetry.broker.registry;

/** APIs that only brokers and controllers send. Written by `make generated` from apis.csv. */
final class BrokerApis {

    static final int[] KEYS = {4, 5, 6, 7, 27, 52, 53, 54, 56, 58, 59, 62, 63, 67, 70, 73, 82, 83, 84, 85, 86, 87};

    private BrokerApis() {
    }
}
